import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { DisruptionCause } from '../../src/core/disruption/disruption-cause.js';
import { hasRoomFor, type OperatorPause } from '../../src/core/pause/operator-pause.js';
import { parseTaint } from '../../src/core/disruption/taint.js';
import { initialState, type State } from '../../src/core/decide/state.js';
import { STATE_BYTES } from '../../src/state/state-file.js';
import { RECORD_HEADER_BYTES } from '../../src/storage/crc-record.js';
import { restoreState } from '../../src/state/saved-state.js';
import { StateKeeper } from '../../src/state/state-keeper.js';
import type { Workload } from '../../src/core/workload/workload.js';
import type { SentSignals } from '../../src/monitor/ports/sent-signals.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../core/support.js';
import { Timeline } from '../core/timeline.js';

const owner = { node: 'machine', cgroupId: '', bootId: 'this' };
const hard = threshold('memory.available', '100Mi');
const NONE = new Map<number, SentSignals>();

function keeping(limit = Infinity, write: (text: string) => void = () => undefined) {
  const texts: string[] = [];
  const said: string[] = [];
  const forgotten: (readonly string[])[] = [];
  const keeper = new StateKeeper({
    file: {
      fits: (text) => Buffer.byteLength(text) <= limit,
      write: (text) => {
        write(text);
        texts.push(text);
      },
    },
    owner,
    bootNs: () => process.hrtime.bigint(),
    sections: { held: 'before' },
    onError: ({ message }) => said.push(message),
    onShortened: (unknown) => forgotten.push(unknown),
  });
  const last = () => {
    const now = process.hrtime.bigint();
    return restoreState(texts.at(-1) ?? '', owner, policy([hard]), { monotonicNs: now, bootNs: now });
  };
  return { keeper, texts, said, forgotten, last };
}

test('a change is written at once, a later time once a second, and nothing otherwise', () => {
  const { keeper, texts } = keeping();
  const now = process.hrtime.bigint();
  const quiet = { ...initialState, lastStepNs: 1n };
  keeper.keep(quiet, NONE);
  for (const seconds of [0n, 10n, 20n]) keeper.follow({ ...quiet, lastStepNs: seconds }, NONE, now + seconds * SECOND);
  expect(texts).toHaveLength(1);

  const timeline = new Timeline(policy([hard], { hasWorkloadSource: false }), candidates());
  timeline.memory(0, 50n);
  keeper.follow(timeline.state, NONE, now);
  expect(texts).toHaveLength(2);
  timeline.memory(0.5, 50n);
  keeper.follow(timeline.state, NONE, now + SECOND / 2n);
  expect(texts).toHaveLength(2);
  timeline.memory(2, 50n);
  keeper.follow(timeline.state, NONE, now + 2n * SECOND);
  expect(texts).toHaveLength(3);
});

test('a sent signal is a change', () => {
  const { keeper, texts, last } = keeping();
  const timeline = new Timeline(policy([hard]), candidates([workload('batch'), 300n * Mi]));
  timeline.memory(0, 50n);
  const times = { crossingNs: 1n, wakeNs: 2n, decisionNs: 3n, signalNs: 4n, killNs: 4n };
  keeper.keep(timeline.state, NONE);
  const now = process.hrtime.bigint();
  keeper.follow(timeline.state, new Map([[1, { times, sent: undefined }]]), now);
  keeper.follow(timeline.state, new Map([[1, { times, sent: 'killNs' }]]), now);
  keeper.follow(timeline.state, new Map([[1, { times, sent: 'killNs' }]]), now);
  expect(texts).toHaveLength(3);
  expect(last().signals.get(1)).toEqual({ times, sent: 'killNs' });
});

test('sections are written at once, and stay until they are removed', () => {
  const { keeper, last } = keeping();
  const held = keeper.section('held', z.string);
  expect(held.before).toEqual(['before']);
  expect(keeper.section('held', z.number).before).toEqual([]);
  expect(keeper.section('other', z.string).before).toEqual([]);
  keeper.keep(initialState, NONE);
  expect(last().sections).toEqual({ held: 'before' });
  held.keep({ units: ['a.service'] });
  expect(last().sections).toEqual({ held: { units: ['a.service'] } });
  held.keep(undefined);
  expect(last().sections).toEqual({});
});

test('a failed write is logged once, and tried again with every step', () => {
  let broken = true;
  const { keeper, texts, said } = keeping(Infinity, () => {
    if (broken) throw new Error('EIO');
  });
  keeper.keep(initialState, NONE);
  keeper.follow(initialState, NONE, 0n);
  expect(said).toEqual(['EIO']);
  broken = false;
  keeper.follow(initialState, NONE, 0n);
  keeper.follow(initialState, NONE, 0n);
  expect([texts.length, said.length]).toEqual([1, 1]);
});

test('a drain of 2,000 containers fits, and another evictd continues it after each of its steps', () => {
  const all = Array.from({ length: 2000 }, (_, at) => {
    const path = `/system.slice/docker-${String(at).padStart(64, 'a')}.scope`;
    return [workload(`container-${String(at)}`, { path, id: `${path}#${String(2 ** 40 + at)}` }), 1n] as [Workload, bigint];
  });
  const made = new Timeline(policy([hard]), candidates(...all));
  const { keeper, texts, last, said } = keeping(STATE_BYTES / 2 - RECORD_HEADER_BYTES, () => undefined);
  const graceNs = 5n * SECOND;
  made.effects(1, {}, {}, { request: { kind: 'drain', graceNs } });
  let left = all;
  const ended: string[] = [];
  for (let at = 2; left.length > 0; at++) {
    keeper.keep(made.state, NONE);
    expect(texts.at(-1)?.length).toBeLessThan(STATE_BYTES / 2 - RECORD_HEADER_BYTES);
    const inFlight = made.state.evictions;
    made.state = { ...initialState, ...last().state };
    expect(made.state.evictions).toHaveLength(inFlight.length);
    const ids = new Set(inFlight.map(({ decision: { victim } }) => victim.workload.id));
    left = left.filter(([{ id }]) => !ids.has(id));
    made.candidates = candidates(...left);
    const gone = Object.fromEntries(inFlight.map(({ decision: { serial } }) => [serial, { processes: 0, removed: true }]));
    ended.push(...made.effects(at, {}, gone).filter((text) => text.startsWith('killed')));
  }
  expect([ended.length, new Set(ended).size, said]).toEqual([2000, 2000, []]);
  expect(made.state.drain).toMatchObject({ over: 'drained', total: 2000 });
});

const containers = (count: number): Workload[] =>
  Array.from({ length: count }, (_, at) => {
    const path = `/system.slice/docker-${String(at).padStart(64, 'a')}.scope`;
    const tolerations = [{ key: 'maintenance', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds: 60n }] as const;
    return workload(`container-${String(at)}`, { path, id: `${path}#${String(2 ** 40 + at)}`, tolerations });
  });

test.each([
  ['800 containers that wait for a taint fit', containers(800), []],
  [
    '2,000 workloads of a slice do',
    Array.from({ length: 2_000 }, (_, at) => {
      const [one] = containers(1);
      const path = `/workload.slice/batch-${String(at)}`;
      return { ...one, name: `batch-${String(at)}`, path, id: `${path}#${String(2 ** 40 + at)}` } as Workload;
    }),
    [],
  ],
  [
    '2,000 containers do not: their times begin anew, and the log says so',
    containers(2_000),
    [expect.stringContaining('tolerated taints')],
  ],
])('%s', (_rule, all, unknown) => {
  const limit = STATE_BYTES / 2 - RECORD_HEADER_BYTES;
  const made = new Timeline(policy([hard]), candidates(...all.map((one) => [one, 1n] as [Workload, bigint])));
  const { keeper, texts, forgotten, last, said } = keeping(limit, (text) => {
    if (text.length > limit) throw new RangeError('too long');
  });
  made.at(1, {}, {}, { request: { kind: 'taint', set: [parseTaint('maintenance=yes:NoExecute')], remove: [] }, bootNs: SECOND });
  expect(made.state.taintEvictions.size).toBe(all.length);
  keeper.keep(made.state, NONE);
  keeper.keep(made.state, NONE);
  expect([texts.length, said]).toEqual([2, []]);
  const { taintEvictions, taints } = last().state;
  expect(taintEvictions).toEqual(unknown.length === 0 ? made.state.taintEvictions : new Map());
  expect(taints).toEqual(made.state.taints);
  expect(forgotten.map((each) => each.slice(-1))).toEqual(unknown.length === 0 ? [] : [unknown]);
  keeper.keep(initialState, NONE);
  expect(forgotten.slice(1)).toEqual(unknown.length === 0 ? [] : [[]]);
});

test('all requests of operators fit, beside a drain, its evictions, and pending calls to an API server', () => {
  const limit = STATE_BYTES / 2 - RECORD_HEADER_BYTES;
  const long = (at: number): string => `${'n'.repeat(60)}/${'p'.repeat(100)}-${String(at)}`;
  const all = Array.from({ length: 150 }, (_, at) => {
    const path = `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${String(at).padStart(36, '0')}.slice`;
    return [workload(long(at), { path, id: `${path}#${String(2 ** 40 + at)}` }), 1n] as [Workload, bigint];
  });
  const made = new Timeline(policy([hard]), candidates(...all));
  made.effects(1, {}, {}, { request: { kind: 'drain' } });
  const pauses = new Map<string, OperatorPause>();
  const by = 'uid 1000 (login uid 1000), process 4194304 (evictd)';
  for (const [{ name, path }] of all) {
    const request = { forNs: SECOND, reason: '重'.repeat(500), workload: { name, path }, by };
    if (!hasRoomFor(pauses, request)) break;
    pauses.set(path, { ...request, beganBootNs: 2n ** 60n, endsBootNs: 2n ** 60n, atNs: 2n ** 60n });
  }
  expect(pauses.size).toBeGreaterThan(5);
  const taints = Array.from({ length: 20 }, (_, at) => parseTaint(`${'k'.repeat(253)}/a-${String(at)}=${'v'.repeat(63)}:NoSchedule`));
  const asked = { kind: 'disruption', reason: 'eviction', message: `${by} asked for it`, by } as const;
  const disruptions = new Map(Array.from({ length: 30 }, (_, at) => [`${long(at)}${long(at)}`, asked]));
  const unitEvictions = new Map(all.map(([{ path }]) => [path, Array.from({ length: 20 }, () => 2n ** 60n)]));
  const { keeper, texts, last, forgotten, said } = keeping(limit);
  keeper.section('kubernetes', z.string).keep('x'.repeat(48 * 1024));
  const state = { ...made.state, pauses, taints, disruptions, unitEvictions };
  keeper.keep(state, NONE);
  expect(Buffer.byteLength(texts.at(-1) ?? '')).toBeLessThan(limit);
  expect(last().state).toMatchObject({ pauses, taints, disruptions, drain: { total: 150 } });
  expect(last().state.evictions).toHaveLength(32);
  expect([forgotten, said]).toEqual([
    [[expect.any(String), expect.any(String), expect.any(String), 'how often units were evicted in the last ten minutes']],
    [],
  ]);
});

test('the text for a standing order has no sections, because they would leave it no space', () => {
  const { keeper } = keeping();
  expect((JSON.parse(keeper.text(initialState, NONE)) as { readonly sections: object }).sections).toEqual({});
});

test('an eviction that an operator requested is not lost, and one for a drain is found again', () => {
  const { keeper, last } = keeping();
  const asked = { kind: 'disruption', reason: 'eviction', message: 'uid 0 asked for it', by: 'uid 0', graceNs: 5n * SECOND } as const;
  keeper.keep(initialState, NONE);
  const disruptions = new Map<string, DisruptionCause>([
    ['/web#1', asked],
    ['/db#2', { ...asked, reason: 'drain' }],
  ]);
  keeper.follow({ ...initialState, disruptions }, NONE, process.hrtime.bigint());
  expect(last().state.disruptions).toEqual(new Map([['/web#1', asked]]));
  const again = new Map<string, DisruptionCause>([['/web#1', { ...asked, graceNs: 0n }]]);
  keeper.follow({ ...initialState, disruptions: again }, NONE, process.hrtime.bigint());
  expect(last().state.disruptions).toEqual(again);
});

test('where not everything fits, the evictions and the grace periods do', () => {
  const timeline = new Timeline(policy([hard]), candidates([workload('batch'), 300n * Mi]));
  timeline.memory(0, 50n);
  const many = <T>(value: T) => new Map(Array.from({ length: 1000 }, (_, at) => [`/workload-${String(at)}`, value]));
  const base = { available: 1n, held: many({ amount: 5n }), atNs: 0n, since: { kind: 'leak', freed: 1n } } as const;
  const grown: State = { ...timeline.state, baselines: new Map([['memory.available', base]]), failedKills: new Map([['/web', 5n]]) };
  const { keeper, last } = keeping(8192);
  keeper.keep(grown, NONE);
  expect(last().state).toMatchObject({ baselines: new Map(), failedKills: grown.failedKills });
  const state = { ...grown, failedKills: many(5n) };
  keeper.keep(state, NONE);
  expect(last().state).toMatchObject({ failedKills: new Map(), evictions: [{ phase: 'dying' }], firstObservedAt: state.firstObservedAt });
});
