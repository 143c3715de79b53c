import { expect, test } from 'vitest';
import type { Policy } from '../../../src/core/decide/state.js';
import type { UnitStop } from '../../../src/core/systemd/unit-stop.js';
import { candidates, Mi, onDisk, policy, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const hard = threshold('memory.available', '100Mi');
const soft = threshold('memory.available', '200Mi', { graceSeconds: 30 });
const all = candidates([workload('batch'), 300n * Mi]);
const shuttingDown = (before: Policy): Policy => ({ ...before, shuttingDown: true });

test('during a shutdown a soft threshold alerts and evicts nothing; its grace period is over when the shutdown is cancelled', () => {
  const timeline = new Timeline(shuttingDown(policy([soft])), all);
  expect(timeline.memory(0, 150n)).toEqual(['met memory.available', 'MemoryPressure=true']);
  expect(timeline.memory(15, 150n)).toEqual([]);
  expect(timeline.memory(31, 149n)).toEqual([]);
  timeline.policy = policy([soft]);
  expect(timeline.memory(32, 148n)).toEqual(['evict batch grace 10']);
});

test('during a shutdown a hard threshold evicts as usual', () => {
  const timeline = new Timeline(shuttingDown(policy([hard, soft])), all);
  expect(timeline.memory(0, 50n)).toContain('evict batch grace 0');
});

test('during a shutdown only hard thresholds reclaim', () => {
  const reclaimed = (graceSeconds: number): string[] => {
    const limit = threshold('nodefs.available', '100Mi', { graceSeconds });
    const timeline = new Timeline(shuttingDown(policy([limit], { collections: new Set(['images']) })), all);
    timeline.effects(0, { 'nodefs.available': 50n * Mi });
    return timeline.effects(10, { 'nodefs.available': 49n * Mi });
  };
  expect(reclaimed(1)).toEqual([]);
  const timeline = new Timeline(shuttingDown(policy([threshold('nodefs.available', '100Mi')], { collections: new Set(['images']) })), all);
  expect(timeline.effects(0, { 'nodefs.available': 50n * Mi })).toContain('reclaim images');
});

test('during a shutdown a reclaim that began for a soft threshold is not followed by an eviction', () => {
  const limit = threshold('nodefs.available', '100Mi', { graceSeconds: 1 });
  const reclaiming = policy([limit], { collections: new Set(['images']), evictable: new Set(['ephemeral-storage']) });
  const after = (last: Policy): string[] => {
    const timeline = new Timeline(reclaiming, onDisk(all));
    timeline.effects(0, { 'nodefs.available': 50n * Mi });
    expect(timeline.effects(2, { 'nodefs.available': 49n * Mi })).toEqual(['reclaim images']);
    timeline.policy = last;
    return timeline.effects(3, { 'nodefs.available': 49n * Mi }, {}, { reclaimed: { errors: [] } });
  };
  expect(after(reclaiming)).toEqual(['reclaimed too little', 'evict batch grace 10']);
  expect(after(shuttingDown(reclaiming))).toEqual(['reclaimed too little']);
});

test('during a shutdown no unit that is kept stopped is started', () => {
  const restarting: UnitStop = {
    kind: 'stop',
    dependants: [],
    triggers: [],
    timers: [],
    restarts: true,
    running: [],
    affected: [],
  };
  const batch = workload('batch', { unit: { name: 'batch', manager: 'system' } });
  const timeline = new Timeline(policy([hard]), { ...candidates([batch, 300n * Mi]), stop: () => restarting });
  timeline.memory(0, 50n);
  timeline.memory(1, 500n, { 1: { processes: 0, usageBytes: 0n } });
  timeline.memory(10, 50n);
  timeline.memory(11, 500n, { 2: { processes: 0, usageBytes: 0n } });
  timeline.policy = shuttingDown(timeline.policy);
  expect(timeline.memory(80, 500n)).toEqual([]);
  timeline.policy = policy([hard]);
  expect(timeline.memory(81, 500n)).toEqual(['start batch']);
});
