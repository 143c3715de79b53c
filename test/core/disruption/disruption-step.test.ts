import { describe, expect, test } from 'vitest';
import type { DisruptionCause } from '../../../src/core/disruption/disruption-cause.js';
import { isBeingEvicted } from '../../../src/core/disruption/disruption-step.js';
import { decisionMessage } from '../../../src/core/message/message.js';
import { remainingBudget } from '../../../src/core/budget/eviction-budget.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

const CAUSE: DisruptionCause = { kind: 'disruption', reason: 'eviction', message: 'an operator asked for it' };
const PLENTY = { 'memory.available': 500n * Mi };
const SHORT = { 'memory.available': 50n * Mi };
const BUDGET = { max: 1, windowNs: 600n * SECOND, bands: [] };
const ALL = candidates(
  [workload('db', { protection: { kind: 'critical' } }), 300n * Mi],
  [workload('web', { terminationGracePeriodNs: 5n * SECOND }), 200n * Mi],
  [workload('batch'), 100n * Mi],
);
const asked = (ids: readonly string[], cause: Partial<DisruptionCause> = {}) => ({
  request: { kind: 'evict', workloads: ids, cause: { ...CAUSE, ...cause } } as const,
});

function timeline(overrides: Parameters<typeof policy>[1] = {}, all = ALL): Timeline {
  return new Timeline(policy([threshold('memory.available', '100Mi')], overrides), all);
}

describe('requested evictions', () => {
  test('have the grace period of the request, or that of the workload, or 30 s', () => {
    const made = timeline();
    expect(made.effects(1, PLENTY, {}, asked(['id-web', 'id-batch']))).toEqual(['evict web grace 5', 'evict batch grace 30']);
    expect(timeline().effects(1, PLENTY, {}, asked(['id-web'], { graceNs: 0n }))).toEqual(['evict web grace 0']);
  });

  test('have the reason of the request in their decision', () => {
    const effect = timeline()
      .at(1, PLENTY, {}, asked(['id-web']))
      .find(({ kind }) => kind === 'evict');
    expect(effect?.kind === 'evict' && decisionMessage(effect.decision)).toBe(
      'evicting web with SIGTERM, SIGKILL after 5s: an operator asked for it; web uses 200MiB, has no request, priority 0',
    );
  });

  test('send SIGKILL after the grace period or at a hard threshold of memory, and are complete whatever they free', () => {
    const late = timeline();
    late.effects(1, PLENTY, {}, asked(['id-web']));
    expect(late.effects(6, PLENTY, { 1: {} })).toEqual(['escalate: grace period over']);
    expect(late.effects(7, PLENTY, { 1: { processes: 0, usageBytes: 300n * Mi } })).toEqual(['killed web 0Mi']);
    const short = timeline();
    short.effects(1, PLENTY, {}, asked(['id-web']));
    expect(short.effects(2, SHORT, { 1: {} })).toContain('escalate: hard threshold met');
    expect(evicted(short.effects(3, SHORT, { 1: {} }))).toEqual([]); // what is dying comes back first
  });

  test('do not delay the signal of a threshold: it waits for no pass of a drain', () => {
    const made = timeline();
    made.candidates = candidates([workload('one'), 200n * Mi]);
    made.effects(1, PLENTY, {}, { request: { kind: 'drain' } });
    made.effects(2, PLENTY, { 1: {} });
    made.effects(2.5, PLENTY, { 1: { error: 'EPERM' } });
    made.candidates = candidates([workload('new'), 200n * Mi], [workload('one'), 300n * Mi]);
    const { asked: before } = made;
    expect(evicted(made.effects(13, SHORT))).toEqual(['evict new grace 0']);
    expect(made.asked).toBe(before + 1); // by the threshold
    expect(made.state.drain?.lookedNs).toBe(2_500_000_000n);
    expect(made.dueAtNs).toBe(13_005_000_000n);
  });

  test('are in flight 32 at once; the next one begins when one has ended, without another pass over the workloads', () => {
    const all = Array.from({ length: 40 }, (_, index) => [workload(`w${String(index)}`), Mi] as [ReturnType<typeof workload>, bigint]);
    const made = timeline({}, candidates(...all));
    const ids = all.map(([{ id }]) => id);
    expect(evicted(made.effects(1, PLENTY, {}, asked(ids)))).toHaveLength(32);
    const { asked: before } = made;
    expect(made.effects(2, PLENTY)).toEqual([]);
    expect(made.asked).toBe(before);
    expect(made.effects(3, PLENTY, { 1: { processes: 0 } })).toEqual(['killed w0 0Mi', 'evict w32 grace 30']);
    expect(made.state.disruptions.size).toBe(7);
  });

  test.each([
    ['a protected workload', {}, asked(['id-db'])],
    ['a workload that has ended', {}, asked(['id-other'])],
    ['a node without a workload source', { hasWorkloadSource: false }, asked(['id-web'])],
    ['a machine that shuts down', { shuttingDown: true }, asked(['id-web'])],
  ] as const)('are not made for %s', (_rule, overrides, request) => {
    const made = timeline(overrides);
    expect(made.effects(1, PLENTY, {}, request)).toEqual([]);
    expect(made.state.disruptions.size).toBe(0);
  });

  test('are not made in a pause, and not twice', () => {
    const paused = timeline({ maxPauseNs: 600n * SECOND });
    paused.effects(0, PLENTY, {}, { pause: { forNs: 60n * SECOND, reason: 'test' }, bootNs: 0n });
    expect(paused.effects(1, PLENTY, {}, { ...asked(['id-web']), bootNs: SECOND })).toEqual([]);
    const twice = timeline();
    twice.effects(1, PLENTY, {}, asked(['id-web']));
    expect(twice.effects(2, PLENTY, { 1: {} }, asked(['id-web']))).toEqual([]);
  });

  test('wait for the end of an eviction of one process of the same workload, which counts as ending', () => {
    const made = timeline({}, candidates([workload('web', { terminationGracePeriodNs: 5n * SECOND }), 200n * Mi]));
    made.effects(1, PLENTY, {}, asked(['id-web']));
    const [first] = made.state.evictions;
    if (first === undefined) throw new Error('no eviction');
    const victim = { ...first.decision.victim, process: { pid: 7 } as never };
    made.state = { ...made.state, evictions: [{ ...first, decision: { ...first.decision, victim } }] };
    expect(made.effects(2, PLENTY, { 1: {} }, asked(['id-web']))).toEqual([]);
    expect([isBeingEvicted(made.state, { id: 'id-web' }), [...made.state.disruptions.keys()]]).toEqual([false, ['id-web']]);
    expect(made.effects(3, PLENTY, { 1: { processes: 0 } })).toEqual([expect.stringMatching(/^killed web/), 'evict web grace 5']);
    expect([isBeingEvicted(made.state, { id: 'id-web' }), made.state.disruptions.size]).toEqual([true, 0]);
  });

  test('are only reported in a dry run', () => {
    const made = timeline({ dryRun: true });
    expect(made.effects(1, PLENTY, {}, asked(['id-web']))).toEqual(['evict web grace 5 dry']);
    expect(made.state.evictions).toEqual([]);
  });

  test('wait until systemd has reported the units that stop with the unit', () => {
    let isAwaited = true;
    const made = timeline({}, { ...ALL, awaited: (_, withinNs) => isAwaited && withinNs === 10n * SECOND });
    expect(made.effects(1, PLENTY, {}, asked(['id-web']))).toEqual([]);
    expect(made.dueAtNs).toBe(SECOND + 5_000_000n);
    isAwaited = false;
    expect(made.effects(1.005, PLENTY)).toEqual(['evict web grace 5']);
    expect(made.effects(1.01, PLENTY, { 1: {} })).toEqual([]);
  });

  test('do not count in the eviction budget of a resource', () => {
    const made = timeline({ evictionBudget: BUDGET });
    made.effects(1, PLENTY, {}, asked(['id-web']));
    expect(remainingBudget(BUDGET, made.state.evictionTimes, 'memory', SECOND)).toBe(1);
  });
});
