import { fc } from '../../support/property.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import type { PolicyBudget } from '../../../src/core/disruption/disruption-budget.js';
import { step } from '../../../src/core/decide/step.js';
import type { Observations } from '../../../src/core/signal/observation.js';
import type { ResourceSignal } from '../../../src/core/signal/signal.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { RunningStatus, StepView, type RunningParts } from '../../../src/features/status/open.js';
import { SignalHistory } from '../../../src/features/status/signal-history.js';
import type { StatusDocument } from '../../../src/features/status/status-document.js';
import { candidatesStatus } from '../../../src/features/status/candidate-status.js';
import { statusOf, type StatusParts } from '../../../src/features/status/status.js';
import { UsageGrowth } from '../../../src/features/status/usage-growth.js';
import { Status } from '../../../src/metrics/status.js';
import { anyPolicy, anyStepInputs } from '../../core/arbitrary.js';
import { KILL, ofCgroup, using } from '../../core/ladder/policies.js';
import { candidates, Gi, input, Mi, observations, policy, requesting, SECOND, threshold, workload } from '../../core/support.js';
import { contradictions } from '../../support/json-schema.js';

const WALL_MS = Date.parse('2026-01-02T03:04:05Z');
const NOW = 1_000n * SECOND;
const HARD = threshold('memory.available', '100Mi');
const SOFT = threshold('memory.available', '200Mi', { graceSeconds: 30 });
const EVICTD = {
  version: '1.2.3',
  pid: 7,
  startedAt: '2026-01-02T03:00:00.000Z',
  dryRun: false,
  safeMode: null,
  shuttingDown: false,
  configuration: { files: ['/etc/evictd/config.yaml'], inForceSince: '2026-01-02T03:00:00.000Z', refused: false },
};

function partsOf(
  made: Pick<StatusParts, 'policy' | 'state' | 'observations'>,
  found: Candidates = candidates(),
  signal?: ResourceSignal,
): StatusParts {
  return {
    node: { name: 'machine', cgroup: undefined, cgroupVersion: 2 },
    layout: 'single',
    candidates: candidatesStatus({ signal }, { layout: 'single', ...made }, found, new UsageGrowth(), NOW),
    stalls: [],
    notifiers: [],
    pauses: [],
    taintEvictions: [],
    disruptionBudgets: [],
    kubernetes: undefined,
    problems: [],
    history: new SignalHistory(),
    records: [],
    evictd: EVICTD,
    ...made,
  };
}

const TWO = candidates(
  [workload('small', { requests: requesting(50n * Mi) }), 20n * Mi],
  [workload('large', { terminationGracePeriodNs: 5n * SECOND }), 300n * Mi],
);

/** The status after steps at these seconds before now, with so much memory available. */
function statusAfter(of: Policy, steps: readonly [secondsAgo: bigint, available: bigint][], signal?: ResourceSignal): StatusDocument {
  let state: State = initialState;
  let observed: Observations = observations(0n, {});
  for (const [secondsAgo, available] of steps) {
    const atNs = NOW - secondsAgo * SECOND;
    observed = observations(atNs, { 'memory.available': available });
    const victims = new Map(
      state.evictions.map(({ decision }) => [
        decision.serial,
        { processes: 1, usageBytes: 1n, removed: false, vanished: false, error: undefined, signalledAtNs: undefined },
      ]),
    );
    ({ state } = step(of, state, input(atNs, observed, { candidates: () => TWO, victims })));
  }
  return statusOf(partsOf({ policy: of, state, observations: observed }, TWO, signal), { nowNs: NOW, wallMs: WALL_MS });
}

test('after any steps with any inputs the status matches docs/openapi.yaml', () => {
  fc.assert(
    fc.property(anyPolicy, fc.array(anyStepInputs, { minLength: 1, maxLength: 8 }), (drawn, timeline) => {
      let state: State = initialState;
      let nowNs = 1_000n * SECOND;
      for (const { afterNs, layout, observed = new Map(), reading, candidates: found } of timeline) {
        nowNs += afterNs;
        const read = { observed, missing: new Map() };
        const victims = new Map(reading ? state.evictions.map(({ decision }) => [decision.serial, reading]) : []);
        ({ state } = step(drawn, state, input(nowNs, read, { layout, victims, candidates: () => found })));
        const document = statusOf(partsOf({ policy: drawn, state, observations: read }, found), { nowNs, wallMs: WALL_MS });
        expect(contradictions('Status', JSON.parse(JSON.stringify(document)))).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
});

test('an idle status has the distance of each threshold, the order of eviction, and the whole budget', () => {
  const limited = policy([HARD, SOFT], { evictionBudget: { max: 5, windowNs: 600n * SECOND, bands: [] } });
  const status = statusAfter(limited, [[2n, 500n * Mi]]);
  expect(status).toMatchObject({
    time: '2026-01-02T03:04:05.000Z',
    evictd: EVICTD,
    signals: [{ signal: 'memory.available', unit: 'bytes', value: Number(500n * Mi), capacity: Number(Gi), ageSeconds: 2 }],
    thresholds: [
      { when: 'memory.available<100Mi', kind: 'hard', met: false, operands: [{ distance: Number(400n * Mi) }], actsInSeconds: null },
      { when: 'memory.available<200Mi', kind: 'soft', met: false, operands: [{ distance: Number(300n * Mi) }], actsInSeconds: null },
    ],
    conditions: [{ type: 'MemoryPressure', status: 'False', clearsInSeconds: null }],
    candidates: { signal: 'memory.available', total: 2 },
    pauses: [],
  });
  expect(status.candidates.workloads.map(({ name, protection }) => [name, protection])).toEqual([
    ['large', null],
    ['small', null],
  ]);
  expect(status.budget?.resources.map(({ remaining }) => remaining)).toEqual([5, 5, 5, 5]);
});

test('the status has a running grace period, and what evictd is about to do', () => {
  const status = statusAfter(policy([SOFT]), [[10n, 150n * Mi]]);
  expect(status.thresholds).toMatchObject([{ met: true, graceSeconds: 30, since: '2026-01-02T03:03:55.000Z', actsInSeconds: 20 }]);
  expect(status.thresholds[0]?.operands).toEqual([{ signal: 'memory.available', limit: Number(200n * Mi), distance: -Number(50n * Mi) }]);
  expect(status.conditions).toEqual([{ type: 'MemoryPressure', status: 'True', clearsInSeconds: null }]);
});

test('the status has a condition, and when it clears', () => {
  const status = statusAfter(policy([SOFT]), [
    [100n, 150n * Mi],
    [60n, 500n * Mi],
  ]);
  expect(status.conditions).toEqual([{ type: 'MemoryPressure', status: 'True', clearsInSeconds: 200 }]);
  expect(status.thresholds).toMatchObject([{ met: false, since: null }]);
});

test('the status has an eviction in flight, with its phase and when SIGKILL follows', () => {
  const steps: [bigint, bigint][] = [
    [34n, 150n * Mi],
    [24n, 150n * Mi],
    [14n, 150n * Mi],
    [2n, 150n * Mi],
  ];
  const status = statusAfter(policy([SOFT]), steps);
  expect(status.evictions).toMatchObject([
    { decision: 1, name: 'large', phase: 'terminating', phaseSeconds: 2, killsInSeconds: 3, usageBytes: Number(300n * Mi) },
  ]);
  expect(status.evictions[0]?.message).toContain('memory.available 150MiB < 200Mi (soft)');
  expect(statusAfter(policy([HARD]), [[2n, 50n * Mi]]).evictions).toMatchObject([{ phase: 'dying', killsInSeconds: null }]);
});

test('the status shows a pause by an operator first', () => {
  const parts = partsOf({ policy: policy([HARD], { shuttingDown: true }), state: initialState, observations: observations(0n, {}) });
  const { pauses } = statusOf(
    { ...parts, pauses: [{ reason: 'disk swap', endSeconds: 0, endsAt: '', endsLocal: '1970-01-01 01:00:00+01:00' }] },
    { nowNs: NOW, wallMs: WALL_MS },
  );
  expect(pauses.map(({ kind }) => kind)).toEqual(['operator', 'shutdown']);
  expect(pauses[0]?.message).toBe('an operator has paused evictions until 1970-01-01 01:00:00+01:00: disk swap');
});

test('the status shows that a used-up budget pauses evictions, and the candidates show why', () => {
  const none = policy([HARD], { evictionBudget: { max: 0, windowNs: 600n * SECOND, bands: [] } });
  const status = statusAfter(none, [[2n, 50n * Mi]]);
  expect(status.evictions).toEqual([]);
  expect(status.pauses[0]).toEqual({ kind: 'budget', message: 'the eviction budget for memory is used up: it permits none' });
  expect(status.candidates.workloads[0]?.protection).toBe('the eviction budget is used up');
});

test.each<[rule: string, of: Partial<Policy>, kind: string]>([
  ['there is no workload source', { hasWorkloadSource: false }, 'no-workload-source'],
  ['a shutdown', { shuttingDown: true }, 'shutdown'],
])('the status shows why evictd evicts nothing: %s', (_rule, of, kind) => {
  expect(statusAfter(policy([HARD], of), [[2n, 500n * Mi]]).pauses.map((pause) => pause.kind)).toEqual([kind]);
});

test('the status has candidates for another signal', () => {
  const { candidates: found } = statusAfter(policy([HARD]), [[2n, 500n * Mi]], 'nodefs.available');
  expect(found.signal).toBe('nodefs.available');
  expect(found.workloads.map(({ protection }) => protection)).toEqual([
    'evicting it would free nothing on nodefs',
    'evicting it would free nothing on nodefs',
  ]);
});

test('the status has a policy whose condition holds, an acting policy, and a waiting one', () => {
  const of = policy([], { policies: [ofCgroup([{ kind: 'freeze', forNs: 5n * SECOND }, KILL], { forNs: 10n * SECOND })] });
  const found = candidates([workload('w', { path: '/a/w' }), 100n * Mi]);
  const activity = (...times: readonly [secondsAgo: bigint, kibibytes: number][]): unknown => {
    let state: State = initialState;
    for (const [secondsAgo, kibibytes] of times)
      ({ state } = step(
        of,
        state,
        input(NOW - secondsAgo * SECOND, observations(0n, {}), { ...using(kibibytes), candidates: () => found }),
      ));
    const { policies } = statusOf(partsOf({ policy: of, state, observations: observations(0n, {}) }), {
      nowNs: NOW,
      wallMs: WALL_MS,
    });
    expect(policies).toMatchObject([{ name: 'p', when: 'memory.current > 100Ki', steps: ['freeze', 'kill'] }]);
    return policies[0]?.active;
  };
  expect(activity([4n, 50])).toEqual([]);
  expect(activity([4n, 200])).toEqual([{ scope: '/a', state: 'holding', step: null, secondsLeft: 6 }]);
  expect(activity([14n, 200], [4n, 200])).toEqual([{ scope: '/a', state: 'acting', step: 0, secondsLeft: 1 }]);
  expect(activity([14n, 200], [4n, 200], [2n, 50])).toEqual([{ scope: '/a', state: 'cooldown', step: null, secondsLeft: 13 }]);
});

test('the status has the pressure averages of each line, and null where the kernel has none', () => {
  const averages = { avg10: 0.5, avg60: 0.25, avg300: 0 };
  const made = partsOf({ policy: policy([]), state: initialState, observations: observations(0n, {}) });
  const stalls = [{ resource: 'memory', kind: 'full', seconds: 1, averages }] as const;
  const none = { some: null, full: null };
  const moment = { nowNs: NOW, wallMs: WALL_MS };
  expect(statusOf({ ...made, stalls }, moment).pressure).toEqual({ memory: { some: null, full: averages }, io: none, cpu: none });
  expect(statusOf(made, moment).pressure).toBeNull();
});

test('the status has records of the journal, the newest first', () => {
  const at = '2026-01-02T03:04:05.000Z';
  const line = (decision: number): string =>
    JSON.stringify({ time: at, type: 'outcome', decision, message: `evicted ${String(decision)}`, more: 1 });
  const parts = {
    ...partsOf({ policy: policy([]), state: initialState, observations: observations(0n, {}) }),
    records: [line(1), line(2), JSON.stringify({ time: at, type: 'decision', message: 'evicting c', processes: [{ pid: 7, name: 'sh' }] })],
  };
  const { decisions } = statusOf(parts, { nowNs: NOW, wallMs: WALL_MS });
  expect(decisions).toEqual([
    { time: at, type: 'decision', decision: null, message: 'evicting c; sh (pid 7)' },
    { time: at, type: 'outcome', decision: 2, message: 'evicted 2' },
    { time: at, type: 'outcome', decision: 1, message: 'evicted 1' },
  ]);
});

/** A running evictd that has made a step or not. */
function running(
  stepped: boolean,
  recent: readonly string[] = [],
  disruptionBudgets: readonly PolicyBudget[] = [],
): { readonly status: RunningStatus; readonly readings: () => number } {
  const view = new StepView();
  let readings = 0;
  const of = policy([HARD], { disruptionBudgets });
  const observed = observations(0n, { 'memory.available': 500n * Mi });
  if (stepped)
    view.stepped({ policy: of, state: initialState, observations: observed, input: { nowNs: 0n } } as Parameters<StepView['stepped']>[0]);
  const parts: Partial<RunningParts> = {
    view,
    node: { identity: { name: 'machine', cgroup: undefined, cgroupVersion: 2 }, layout: () => 'single' } as unknown as RunningParts['node'],
    status: new Status(),
    workloads: {
      candidates: () => {
        readings += 1;
        return TWO;
      },
    } as unknown as RunningParts['workloads'],
    journal: { recent },
    evictd: () => EVICTD,
  };
  return { status: new RunningStatus(parts as RunningParts), readings: () => readings };
}

const asking = (signal: string) => ({ query: new URLSearchParams({ signal }) });

test('clients that ask repeatedly make evictd read once', () => {
  vi.useFakeTimers({ toFake: ['hrtime'] }); // on a busy machine the answer may be out of date before the tenth call
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { status, readings } = running(true);
  for (let at = 0; at < 10; at += 1) expect(status.answer(asking('')).json).toMatchObject({ candidates: { signal: 'memory.available' } });
  expect(readings()).toBe(1);
  for (let at = 0; at < 10; at += 1) {
    expect(status.answer(asking('pid.available')).json).toMatchObject({ candidates: { signal: 'pid.available' } });
    status.ranking({ query: new URLSearchParams({ order: 'name' }) });
  }
  expect(readings()).toBe(3); // asked for in turn
});

test('the permissions of budgets are counted when they are read, and once for reads within a moment', () => {
  vi.useFakeTimers({ toFake: ['hrtime'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const web = { name: 'web', match: { name: '*' }, unhealthyPolicy: 'IfHealthyBudget', os: 'linux' } as const;
  const limit = { of: 'minAvailable', value: 1, isPercentage: false } as const;
  const { status, readings } = running(true, [], [{ ...web, limit }]);
  const permits = { name: 'web', expected: 2, currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1 };
  for (let at = 0; at < 10; at += 1) expect(status.budgets()).toEqual([permits]);
  expect(readings()).toBe(1);
  const { json } = status.answer(asking(''));
  expect(json).toMatchObject({ disruptionBudgets: [permits] });
  expect(contradictions('Status', json)).toEqual([]);
  const none = running(true);
  expect([none.status.budgets(), none.readings(), running(false).status.budgets()]).toEqual([[], 0, []]);
});

test('the ranking and the journal records can be read separately', () => {
  const line = (decision: number): string =>
    JSON.stringify({ time: '2026-01-02T03:04:05.000Z', type: 'outcome', decision, message: 'm', more: [1] });
  const { status } = running(true, [line(1), line(2)]);
  const { json: ranking } = status.ranking({ query: new URLSearchParams({ signal: 'pid.available' }) });
  expect(contradictions('Ranking', ranking)).toEqual([]);
  expect(ranking).toMatchObject({
    apiVersion: 'v1',
    candidates: { signal: 'pid.available', total: 2, workloads: [{ place: 1 }, { place: 2 }] },
  });
  const { json: decisions } = status.decisions();
  expect(contradictions('Decisions', decisions)).toEqual([]);
  expect(decisions).toMatchObject({
    apiVersion: 'v1',
    records: [
      { decision: 2, more: [1] },
      { decision: 1, more: [1] },
    ],
  });
});

test('before the first step, and for a signal that evicts nothing, the answer is an error', () => {
  expect(() => running(false).status.answer(asking(''))).toThrow('evictd has not read the node yet');
  expect(() => running(true).status.answer(asking('cpu.pressure.some'))).toThrow('no workload is evicted for cpu.pressure.some');
  expect(() => running(true).status.answer(asking('x'))).toThrow('no workload is evicted for x');
});
