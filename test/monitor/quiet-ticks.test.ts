import { expect, test } from 'vitest';
import { initialState, type State } from '../../src/core/decide/state.js';
import type { Threshold } from '../../src/core/threshold/threshold.js';
import type { NotifierState, SourceProblem, StepListener } from '../../src/monitor/ports/ports.js';
import { QuietTicks } from '../../src/monitor/quiet-ticks.js';
import { condition, NOTIFY, ofCgroup } from '../core/ladder/policies.js';
import { Mi, observations, policy, threshold } from '../core/support.js';

const memory = threshold('memory.available', '200Mi');
const pids = threshold('pid.available', '10%');
const sampler: NotifierState = {
  mechanism: 'sampler',
  signal: 'memory.available',
  target: 'x',
  live: true,
  reason: undefined,
  hint: undefined,
  essential: true,
};
const nothing = { observed: new Map(), missing: new Map() } as const;
/** With a node that is steady and no listener. */
const quietTicks = (rest: Partial<ConstructorParameters<typeof QuietTicks>[0]> = {}): QuietTicks =>
  new QuietTicks(
    {
      node: { steady: () => nothing, read: () => nothing, requestFilesystems: () => undefined },
      workloads: { refresh: () => undefined },
      reporter: { skipped: () => undefined, sampled: () => undefined },
      heartbeat: { beat: () => undefined },
      listeners: [],
      ...rest,
    },
    () => undefined,
  );
const problem: SourceProblem = { code: 'EVICTD_SOURCE_MISSING', message: 'x' };

test.each<[rule: string, mayBe: boolean, thresholds: Threshold[], notifiers: NotifierState[], problems?: SourceProblem[]]>([
  ['each threshold has a live notifier', true, [memory], [sampler]],
  ['one threshold has no notifier', false, [memory, pids], [sampler]],
  ['the notifier of a threshold is not live', false, [memory], [{ ...sampler, live: false }]],
  [
    'an additional notifier is not live',
    true,
    [memory],
    [sampler, { ...sampler, mechanism: 'psi_trigger', live: false, essential: false }],
  ],
  [
    'only an additional notifier is live',
    false,
    [memory],
    [
      { ...sampler, live: false },
      { ...sampler, essential: false },
    ],
  ],
  ['a workload source is missing', false, [memory], [sampler], [problem]],
])('a tick may pass without a reading: %s', (_rule, mayBe, thresholds, notifiers, problems = []) => {
  const quiet = quietTicks();
  quiet.armed({ thresholds }, notifiers, problems);
  expect(quiet.tickWithoutPass(policy(thresholds), initialState, 0n)).toBe(mayBe);
});

test.each<[rule: string, state: Partial<State>]>([
  ['a threshold is met', { episodes: new Map([['m', memory]]) }],
  ['a condition lasts', { conditions: ['MemoryPressure'] }],
  ['a victim is ending', { evictions: [{} as never] }],
  ['a unit is kept stopped', { held: new Map([['u', {} as never]]) }],
  ['the last eviction freed too little', { withoutYield: new Map([['memory.available', 0n]]) }],
  ['the node is reclaiming', { reclaiming: {} as never }],
  ['a signal cannot be read', { lastObservations: { observed: new Map(), missing: new Map([['pid.available', 'x']]) } }],
])('every tick makes a pass while %s', (_rule, state) => {
  const quiet = quietTicks();
  quiet.armed({ thresholds: [memory] }, [sampler], []);
  expect(quiet.tickWithoutPass(policy([memory]), { ...initialState, ...state }, 0n)).toBe(false);
});

test('every tick makes a pass where workloads have limits of local storage', () => {
  const quiet = quietTicks();
  quiet.armed({ thresholds: [memory] }, [sampler], []);
  expect(quiet.tickWithoutPass(policy([memory], { localStorageCapacityIsolation: true }), initialState, 0n)).toBe(false);
});

test('the thirtieth tick makes a pass, and only a tick with a pass restarts the count', () => {
  const quiet = quietTicks();
  const skipped = (): number => {
    let ticks = 0;
    while (quiet.tickWithoutPass(policy([memory]), initialState, 0n)) {
      ticks += 1;
      quiet.armed({ thresholds: [memory] }, [sampler], []); // as after a wake that decides nothing
    }
    return ticks;
  };
  quiet.armed({ thresholds: [memory] }, [sampler], []);
  expect(skipped()).toBe(29);
  expect(skipped()).toBe(0);
  quiet.passes(0n);
  expect(skipped()).toBe(29);
});

test('with ticks a minute apart each looks at the node and its filesystems, and the fifth makes a pass', () => {
  const MINUTE = 60_000_000_000n;
  const done: string[] = [];
  const node = {
    steady: () => (done.push('node'), nothing),
    read: () => nothing,
    requestFilesystems: () => void done.push('filesystems'),
  };
  const quiet = quietTicks({ node, workloads: { refresh: () => void done.push('workloads') } });
  quiet.armed({ thresholds: [memory] }, [sampler], []);
  quiet.passes(0n);
  const made = [1n, 2n, 3n, 4n, 5n].map((minutes) => quiet.tickWithoutPass(policy([memory]), initialState, minutes * MINUTE));
  expect(made).toEqual([true, true, true, true, false]);
  const look = ['node', 'filesystems', 'workloads'];
  expect(done).toEqual([...look, ...look, ...look, ...look]);
});

const watchedPressure: ReadonlySet<string> = new Set(['memory.pressure.full']);
const policies = { bytesPerSecond: Infinity, watchedPressure, read: () => ({ scopes: new Map() }) };
const listener: StepListener = { stepped: () => undefined, skipped: () => false, close: () => undefined };
const recorder: StepListener = { stepped: () => undefined, close: () => undefined };

test.each<[rule: string, mayBe: boolean, parts: Parameters<typeof quietTicks>[0], state?: Partial<State>, dueAtNs?: bigint]>([
  ['they are at rest', true, { policies, listeners: [listener] }],
  ['something else is due later', true, { policies }, {}, 11n],
  ['something else is due', false, { policies }, {}, 10n],
  ['a threshold is met', false, { policies }, { episodes: new Map([['m', memory]]) }],
  ['a listener needs each step', false, { policies, listeners: [listener, recorder] }],
  ['there are no policies', false, {}],
])('policies are judged without a pass: %s', (_rule, mayBe, parts, state = {}, dueAtNs) => {
  const quiet = quietTicks(parts);
  const inForce = policy([memory], { policies: [ofCgroup([NOTIFY])] });
  const looked = quiet.policiesWithoutPass(inForce, { ...initialState, ...state }, dueAtNs, 10n);
  expect([looked !== undefined, quiet.policiesAtNs]).toEqual(mayBe ? [true, 2_000_000_010n] : [false, undefined]);
});

test('policies with distant conditions are judged later, also after a pass that has read their scopes', () => {
  const readings = { scopes: new Map([['p', []]]) };
  const quiet = quietTicks({ policies: { ...policies, bytesPerSecond: 1024, read: () => readings } });
  const inForce = policy([memory], { policies: [ofCgroup([NOTIFY], { when: condition('memory.current > 3Ki', 'cgroup') })] });
  quiet.policiesWithoutPass(inForce, initialState, undefined, 10n);
  expect(quiet.policiesAtNs).toBe(5_000_000_010n);
  quiet.passed(inForce, initialState, readings, 20n);
  expect(quiet.policiesAtNs).toBe(5_000_000_020n);
  quiet.passed(inForce, initialState, undefined, 20n);
  expect(quiet.policiesAtNs).toBe(2_000_000_020n);
});

test('where pressure rises, policies are due at once; without policies nothing is', () => {
  const quiet = quietTicks({ policies });
  quiet.hurry(10n);
  expect(quiet.policiesAtNs).toBeUndefined();
  quiet.passed(policy([memory], { policies: [ofCgroup([NOTIFY])] }), initialState, undefined, 10n);
  quiet.hurry(20n);
  expect(quiet.policiesAtNs).toBe(20n);
});

test.each([
  [true, 12_000_000_010n],
  [false, 2_000_000_010n],
])('a policy on less memory than a threshold is judged later while the notifier is live: %s', (live, atNs) => {
  const node = { requestFilesystems: () => undefined, read: () => observations(0n, { 'memory.available': 300n * Mi }) };
  const quiet = quietTicks({ node, policies });
  quiet.armed({ thresholds: [memory] }, [{ ...sampler, live }], []);
  const below = { name: 'p', when: condition('memory.available < 100Mi', 'node'), forNs: 0n, cooldownNs: 0n, then: [NOTIFY] };
  quiet.policiesWithoutPass(policy([memory], { policies: [below] }), initialState, undefined, 10n);
  expect(quiet.policiesAtNs).toBe(atNs);
});
