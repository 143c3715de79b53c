import { expect, test } from 'vitest';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import type { DisruptionReason } from '../../../src/core/disruption/disruption-cause.js';
import { candidates, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

const thresholds = [threshold('memory.available', '200Mi', { graceSeconds: 1 }), threshold('memory.available', '100Mi')];
const large: Parameters<typeof candidates>[number] = [workload('large'), 300n * Mi];
const small: Parameters<typeof candidates>[number] = [workload('small'), 50n * Mi];
const refused = { processes: 3, error: 'its disruption budget does not permit it now', refused: true } as const;

/** The eviction of `large` for the soft threshold is refused. */
function run(departures: ReturnType<typeof without>, all: ReturnType<typeof candidates>) {
  const timeline = new Timeline(policy(thresholds, { departures, maxPodGracePeriodNs: 30n * SECOND }), all);
  timeline.memory(0, 150n);
  expect(evicted(timeline.memory(2, 150n))).toEqual(['evict large grace 30']);
  const next = [...evicted(timeline.effects(2.1, { 'memory.available': 150n * Mi }, { 1: refused })), ...evicted(timeline.memory(3, 150n))];
  return { timeline, next };
}

test('after a refusal by a budget the next workload is evicted, and the refused one is tried again after a minute', () => {
  expect(run(policy([]).departures, candidates(large, small)).next).toEqual(['evict small grace 30']);
  const { timeline, next } = run(policy([]).departures, candidates(large));
  expect(next).toEqual([]);
  expect([30, 60].flatMap((seconds) => evicted(timeline.memory(seconds, 150n)))).toEqual([]);
  expect(evicted(timeline.memory(63, 150n))).toEqual(['evict large grace 30']);
});

test.each([
  ['evictd', policy([]).departures],
  ['the kubelet', without('failed-kill')],
])('at a hard threshold the refused workload is killed at once (%s)', (_, departures) => {
  const { timeline } = run(departures, candidates(large));
  expect(timeline.notBeforeNs).toBeUndefined();
  expect(evicted(timeline.memory(4, 50n))).toEqual(['evict large grace 0']);
});

test('an eviction for a taint asks no budget: the refused workload is evicted at once', () => {
  const { timeline } = run(policy([]).departures, candidates(large));
  const set = [{ key: 'maintenance', value: '', effect: 'NoExecute' as const }];
  const request = { kind: 'taint' as const, set, remove: [] };
  expect(evicted(timeline.effects(4, { 'memory.available': 500n * Mi }, {}, { request, bootNs: 4n * SECOND }))).toHaveLength(1);
});

test('the grace period begins with the answer of the API server', () => {
  const timeline = new Timeline(policy(thresholds, { maxPodGracePeriodNs: SECOND }), candidates(large));
  timeline.memory(0, 150n);
  expect(evicted(timeline.memory(2, 150n))).toEqual(['evict large grace 1']);
  const look = (seconds: number, reading: object) =>
    timeline
      .effects(seconds, { 'memory.available': 150n * Mi }, { 1: { processes: 3, ...reading } })
      .filter((one) => one.startsWith('escalate'));
  expect([3.5, 4].flatMap((seconds) => look(seconds, { unanswered: true }))).toEqual([]);
  expect(look(4.9, {})).toEqual([]);
  expect(look(5, {})).toHaveLength(1);
});

const POD = { kubernetes: { uid: 'u-1', namespace: 'shop', name: 'web', labels: {}, priority: 0 } };
const pod: typeof large = [workload('pod', POD), 100n * Mi];
const LOW = { 'memory.available': 50n * Mi };
const WAITS = { signalledAtNs: 1n, unanswered: true } as const;
const ENDED = ['killed pod 100Mi', 'evict large grace 0'];
const KILLED = ['escalate: hard threshold met'];

test.each<
  [rule: string, reason: DisruptionReason, of: typeof large, reading: Partial<VictimReading>, others: (typeof large)[], then: string[]]
>([
  ['of a drain goes on, and another workload is killed', 'drain', pod, WAITS, [large], ['evict large grace 0']],
  ['of an operator goes on', 'eviction', pod, WAITS, [large], ['evict large grace 0']],
  ['ends where its pod comes first, which is killed', 'drain', pod, WAITS, [small], ['failed pod 0Mi', 'evict pod grace 0']],
  ['that waits for its hooks goes on', 'drain', pod, {}, [large], ['evict large grace 0']],
  ['without a descriptor goes on', 'drain', pod, { error: 'EMFILE', passing: 'unsent' }, [large], ['evict large grace 0']],
  ['whose pod has ended has its outcome', 'drain', pod, { ...WAITS, processes: 0, usageBytes: 0n }, [large], ENDED],
  ['for a taint asks no budget: its pod is killed', 'taint', pod, WAITS, [large], KILLED],
  ['that the API server has accepted is cut short', 'drain', pod, { signalledAtNs: 1n }, [large], KILLED],
  ['of a workload that is no pod is cut short', 'drain', small, {}, [large], KILLED],
])('at a hard threshold an eviction %s', (_rule, reason, of, reading, others, then) => {
  const timeline = new Timeline(policy([threshold('memory.available', '100Mi')]), candidates(of, ...others));
  const cause = { kind: 'disruption', reason, message: 'asked' } as const;
  const request = { kind: 'evict', workloads: [of[0].id], cause } as const;
  expect(evicted(timeline.effects(1, { 'memory.available': 500n * Mi }, {}, { request }))).toHaveLength(1);
  expect(timeline.effects(2, LOW, { 1: reading }).filter((one) => /^(escalate|failed|killed|evict)/.test(one))).toEqual(then);
  expect(timeline.state.refusedEvictions).toEqual(new Map());
  const isOver = then.some((one) => /^(failed|killed)/.test(one));
  expect(timeline.state.evictions.some(({ decision: { serial } }) => serial === 1)).toBe(!isOver);
});

test('at a hard threshold that evicts nothing an eviction goes on: the budget is used up', () => {
  const timeline = new Timeline(policy([threshold('memory.available', '100Mi')]), candidates(pod, large));
  const cause = { kind: 'disruption', reason: 'eviction', message: 'asked' } as const;
  const request = { kind: 'evict', workloads: ['id-pod'], cause } as const;
  timeline.policy = { ...timeline.policy, evictionBudget: { max: 0, windowNs: SECOND, bands: [] } };
  expect(evicted(timeline.effects(1, { 'memory.available': 500n * Mi }, {}, { request }))).toHaveLength(1);
  const effects = [2, 3].flatMap((seconds) => timeline.effects(seconds, LOW, { 1: { ...WAITS, processes: 3 } }));
  expect(effects.filter((one) => /^(escalate|failed|evict)/.test(one))).toEqual([]);
  expect(timeline.state.evictions).toHaveLength(1);
});

const UNANSWERED = { processes: 3, error: 'the API server does not answer', refused: true, unanswered: true } as const;

test.each<[rule: string, reading: Partial<VictimReading>, then: string[]]>([
  ['has refused is passed over for a soft threshold', refused, []],
  ['has not answered is evicted for a soft threshold: it needs no answer', UNANSWERED, ['evict pod grace 10']],
])('a pod whose drain the API server %s', (_rule, reading, then) => {
  const timeline = new Timeline(policy(thresholds), candidates(pod));
  timeline.effects(0, { 'memory.available': 500n * Mi }, {}, { request: { kind: 'drain' } });
  expect(evicted(timeline.effects(1, { 'memory.available': 150n * Mi }, { 1: reading }))).toEqual([]);
  expect(evicted(timeline.memory(3, 150n))).toEqual(then);
});

test('a drain that the API server has not answered is tried again after a minute', () => {
  const timeline = new Timeline(policy(thresholds), candidates(pod));
  timeline.effects(0, { 'memory.available': 500n * Mi }, {}, { request: { kind: 'drain' } });
  timeline.effects(1, { 'memory.available': 500n * Mi }, { 1: UNANSWERED });
  expect([2, 12, 30, 60].flatMap((seconds) => evicted(timeline.memory(seconds, 500n)))).toEqual([]);
  expect(evicted(timeline.memory(71, 500n))).toEqual(['evict pod grace 30']);
});
