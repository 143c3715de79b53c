import { expect, test } from 'vitest';
import type { Effect } from '../../src/core/decide/effect.js';
import { Status } from '../../src/metrics/status.js';
import { reclaimed } from '../../src/monitor/effects/reclaim.js';
import type { NotifierState } from '../../src/monitor/ports/ports.js';
import { Reporter } from '../../src/monitor/reporter.js';
import { Gi, observations, threshold } from '../core/support.js';

function reporter(status = new Status()): { reporter: Reporter; said: string[] } {
  const said: string[] = [];
  const say = (message: string): void => {
    said.push(message);
  };
  const log = { debug: say, info: say, warn: say, error: say, dropped: 0, flush: () => Promise.resolve() };
  return { reporter: new Reporter(log, status), said };
}

const dead = (target: string): NotifierState => {
  return {
    mechanism: 'memcg_threshold',
    signal: 'memory.available',
    target,
    live: false,
    reason: 'EACCES',
    hint: 'run as root',
    essential: true,
  };
};

test('a notifier that is not live is logged once, wherever its target moves', () => {
  const { reporter: it, said } = reporter();
  it.sources([dead('usage ≥ 1')], []);
  it.sources([dead('usage ≥ 2')], []);
  expect(said).toEqual([
    'notifier memcg_threshold on usage ≥ 1 could not be armed: EACCES; until it can be, memory.available is polled (run as root)',
  ]);
});

test('a notifier that is live again is logged, each of two separately', () => {
  const { reporter: it, said } = reporter();
  it.sources([dead('usage ≥ 1'), dead('usage ≥ 9')], []);
  it.sources([{ ...dead('usage ≥ 1'), live: true, reason: undefined }, dead('usage ≥ 9')], []);
  expect(said).toHaveLength(3);
  expect(said[2]).toMatch(/^is live again: notifier memcg_threshold on usage ≥ 1/);
});

test('a live notifier that could not be moved is logged, and again when it has moved', () => {
  const { reporter: it, said } = reporter();
  const stuck = { ...dead('usage ≥ 1'), live: true };
  it.sources([stuck], []);
  it.sources([stuck], []);
  it.sources([{ ...stuck, target: 'usage ≥ 2', reason: undefined }], []);
  const sentence = 'notifier memcg_threshold is still at usage ≥ 1 and could not be moved: EACCES (run as root)';
  expect(said).toEqual([sentence, `is over: ${sentence}`]);
});

test('a missing workload source is logged once, and when it appears', () => {
  const { reporter: it, said } = reporter();
  const missing = { code: 'EVICTD_SOURCE_MISSING', message: '/w does not exist' };
  it.sources([], [missing]);
  it.sources([], [missing]);
  it.sources([], []);
  expect(said).toEqual(['/w does not exist', 'is solved: /w does not exist']);
});

test('an error of a step is logged once, and when it is over', () => {
  const { reporter: it, said } = reporter();
  const nothing = { observed: new Map(), missing: new Map() };
  it.stepFailed('no layout');
  it.sampled(nothing, []);
  it.stepFailed('no layout');
  it.sampled(nothing, []);
  it.sampled(nothing, []);
  expect(said).toEqual(['no layout', 'is over: no layout']);
});

test('the freed amount and the failures of each reclaim step are counted', () => {
  const status = new Status();
  const reading = {
    threshold: threshold('nodefs.available', '100Mi'),
    observation: { available: 0n, capacity: Gi, timeNs: 0n, source: 'test' },
  };
  const effect: Extract<Effect, { kind: 'reclaimed' }> = {
    kind: 'reclaimed',
    reclaim: { ...reading, observations: observations(0n, {}), collections: ['images', 'images-of-mine'], candidates: undefined },
    enough: false,
    errors: ['images-of-mine: exit code 1'],
    yields: [
      { collection: 'images', bytes: 7n, inodes: 2n },
      { collection: 'images-of-mine', bytes: 0n, inodes: 0n },
    ],
  };
  reporter(status).reporter.effect(reclaimed, effect, undefined);
  const counted = (step: string) =>
    ['reclaims', 'reclaims_failed', 'reclaimed_bytes', 'reclaimed_inodes'].map((name) => status.count(`evictd_${name}_total`, step));
  expect([counted('images'), counted('images-of-mine')]).toEqual([
    [1, 0, 7, 2],
    [1, 1, 0, 0],
  ]);
});
