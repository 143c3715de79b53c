import { describe, expect, test } from 'vitest';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { atStep, type Ladder } from '../../../src/core/ladder/ladder.js';
import { scopeKey } from '../../../src/core/ladder/policy-state.js';
import type { ScopeReading } from '../../../src/core/policy/scope-reading.js';
import { rank } from '../../../src/core/rank/rank.js';
import { thresholdId, type Threshold } from '../../../src/core/threshold/threshold.js';
import type { Protection } from '../../../src/core/workload/workload.js';
import { protectedUnit } from '../../../src/core/systemd/protected-units.js';
import { explainNow, type ExplainedMoment } from '../../../src/features/explain/explain-now.js';
import { condition, KILL, NOTIFY, ofCgroup, reading } from '../../core/ladder/policies.js';
import { candidates, Mi, observations, policy, requesting, SECOND, threshold, workload } from '../../core/support.js';

const USAGES = candidates(
  [workload('web', { requests: requesting(64n * Mi) }), 32n * Mi],
  [workload('db', { protection: { kind: 'critical' } }), 100n * Mi],
  [workload('batch', { priority: -10 }), 200n * Mi],
  [workload('job', { priority: -10 }), 50n * Mi],
).usages;
const RANKING = rank('memory.available', 'single', USAGES, departuresOf('evictd'));
const hard = threshold('memory.available', '100Mi');
const soft = threshold('memory.available', '300Mi', { graceSeconds: 60 });

function moment(availableMi: bigint, overrides: Partial<ExplainedMoment> = {}): ExplainedMoment {
  return {
    source: 'evictd',
    node: 'machine',
    signal: 'memory.available',
    policy: policy([hard, soft]),
    state: initialState,
    pauses: [],
    observations: observations(0n, { 'memory.available': availableMi * Mi }),
    ranking: RANKING,
    nowNs: 100n * SECOND,
    settingsOf: (_workload, key) => (key === 'critical' ? ['rules[0].critical (c.yaml:3:15)'] : []),
    ...overrides,
  };
}

const observedSince = (of: Threshold, atNs: bigint): State => ({ ...initialState, firstObservedAt: new Map([[thresholdId(of), atNs]]) });

test('a signal without a threshold is explained as such', () => {
  const found = (signal: ExplainedMoment['signal']): boolean => explainNow(moment(400n, { signal })).hasThreshold;
  expect([found('memory.available'), found('pid.available')]).toEqual([true, false]);
});

test.each<[rule: string, availableMi: bigint, overrides: Partial<ExplainedMoment>, whys: readonly string[]]>([
  ['no threshold is met', 400n, {}, ['not met: 300MiB of memory.available left', 'not met: 100MiB of memory.available left']],
  ['equal to the limit is not met', 300n, {}, ['not met: 200MiB of memory.available left', 'not met: 0B of memory.available left']],
  [
    'a grace period runs',
    299n,
    { state: observedSince(soft, 70n * SECOND) },
    ['not met: 199MiB of memory.available left', 'met; its grace period of 1m0s ends in 30s'],
  ],
  [
    'the grace period is over',
    299n,
    { state: observedSince(soft, 40n * SECOND) },
    ['not met: 199MiB of memory.available left', 'met for its grace period'],
  ],
  [
    'another process does not know the grace period',
    299n,
    { source: 'this process' },
    ['not met: 199MiB of memory.available left', 'met now; it evicts after 1m0s'],
  ],
  [
    'the signal cannot be read',
    0n,
    { observations: { observed: new Map(), missing: new Map([['memory.available', 'EIO']]) } },
    ['not known: memory.available < 100Mi: EIO', 'not known: memory.available < 300Mi: EIO'],
  ],
])('the state of a threshold: %s', (_rule, availableMi, overrides, whys) => {
  expect(explainNow(moment(availableMi, overrides)).thresholds.map(({ why }) => why)).toEqual(whys);
});

test('the nearest threshold has the least left, and of joined operands the farthest counts', () => {
  const joined: Threshold = { ...threshold('memory.available', '350Mi'), kind: 'soft', also: [threshold('nodefs.available', '1Mi')] };
  const found = explainNow(
    moment(400n, {
      policy: policy([hard, joined]),
      observations: observations(0n, { 'memory.available': 400n * Mi, 'nodefs.available': 900n * Mi }),
    }),
  );
  expect(found.nearest).toEqual({ when: 'memory.available<100Mi', left: '300MiB' });
  expect(explainNow(moment(50n)).nearest).toBeNull();
});

const protectedAll = RANKING.map((item) => ({ ...item, protection: { kind: 'critical' } as const }));
test.each<
  [rule: string, overrides: { readonly policy?: Partial<Policy> } & Partial<Omit<ExplainedMoment, 'policy'>>, blocker: RegExp | undefined]
>([
  ['nothing', {}, undefined],
  ['there is no workload source', { policy: { hasWorkloadSource: false }, ranking: [] }, /no workload source/],
  ['safe mode', { policy: { safeMode: true, hasWorkloadSource: false } }, /safe mode/],
  ['a dry run', { policy: { dryRun: true } }, /dry run/],
  ['every workload is protected', { ranking: protectedAll }, /every workload is protected \(4\)/],
  ['there is no workload', { ranking: [] }, /there is no workload/],
  [
    'the budget',
    {
      policy: { evictionBudget: { max: 1, windowNs: 600n * SECOND, bands: [] } },
      state: { ...initialState, evictionTimes: new Map([['memory', [{ decision: 1, atNs: 40n * SECOND, priority: 0 }]]]) },
    },
    /budget for memory is used up \(1 in 10m0s\): the next one is possible in 9m0s/,
  ],
  [
    'a band of the budget, in which all are that are left',
    { policy: { evictionBudget: { max: 5, windowNs: 600n * SECOND, bands: [{ minPriority: -10, max: 0 }] } } },
    /budget for memory of workloads with priority -10 or more is used up \(0 in 10m0s\): it permits none/,
  ],
  [
    'a used-up band is not a reason while another workload is left',
    {
      ranking: [...RANKING].reverse(),
      policy: { evictionBudget: { max: 5, windowNs: 600n * SECOND, bands: [{ minPriority: 0, max: 0 }] } },
    },
    undefined,
  ],
])('a reason for which evictd evicts nothing: %s', (_rule, { policy: changed, ...overrides }, blocker) => {
  const { blockers } = explainNow(
    moment(50n, { policy: policy([hard], { evictionBudget: undefined as never, ...changed }), ...overrides }),
  );
  if (blocker === undefined) expect(blockers).toEqual([]);
  else expect(blockers.join('\n')).toMatch(blocker);
});

const explained = (name: string) =>
  explainNow(
    moment(400n),
    RANKING.find(({ workload: { name: own } }) => own === name),
  ).workload;

describe('explain of a workload', () => {
  test('shows its rank, its values beside those of its neighbours, and the value that decides', () => {
    expect(RANKING.map(({ workload: { name } }) => name)).toEqual(['batch', 'job', 'db', 'web']);
    expect(explained('job')).toMatchObject({
      place: 2,
      of: 3,
      evictedBefore: 1,
      before: { name: 'batch', place: 1, decidedBy: 'above-request' },
      after: { name: 'web', place: 3, decidedBy: 'exceeds-request' },
      protection: null,
      wouldChange: [
        'sooner: more than 200MiB above its request, or a lower priority',
        'later: a request of at least 50MiB',
        'never: a rule with critical: true',
      ],
    });
    expect(explained('job')?.comparators.slice(0, 4)).toEqual([
      { comparator: 'avoid', value: 'no', before: 'no', after: 'no' },
      { comparator: 'exceeds-request', value: 'yes', before: 'yes', after: 'no' },
      { comparator: 'priority', value: '-10', before: '-10', after: '0' },
      { comparator: 'above-request', value: '50MiB', before: '200MiB', after: '-32MiB' },
    ]);
    expect(explained('batch')?.before).toBeNull();
  });

  test('names a taint or a drain that will evict it', () => {
    const job = RANKING.find(({ workload: { name } }) => name === 'job');
    const disruption = (state: Partial<State>) =>
      explainNow(moment(400n, { state: { ...initialState, ...state } }), job).workload?.disruption;
    const { id = '', name = '', path = '' } = job?.workload ?? {};
    const waiting = { name, path, taint: 'maintenance=yes:NoExecute', createdNs: 0n };
    const drain = { beganNs: 0n, pending: [{ id, name, path, waits: 'a budget' }], total: 1, lookedNs: 0n };
    const tolerated = (dueNs: bigint) =>
      disruption({
        taintEvictions: new Map([[id, { ...waiting, dueNs }]]),
        taintsJudged: { atNs: 95n * SECOND, bootNs: 1000n * SECOND, of: '' },
      });
    expect(tolerated(1035n * SECOND)).toBe('it tolerates the taint maintenance=yes:NoExecute for a time, and is evicted in 30s');
    expect(tolerated(1005n * SECOND)).toMatch(/, and is evicted as soon as it may be: the time is over$/);
    expect(disruption({ drain })).toBe('the node is drained, and its eviction waits: a budget');
    expect(disruption({ drain: { ...drain, over: 'timeout' } })).toBeUndefined();
  });

  test('names its protection, where that is set, and what would end it', () => {
    expect(explained('db')).toMatchObject({
      protection: { kind: 'critical', because: 'critical', setBy: ['rules[0].critical (c.yaml:3:15)'] },
      wouldChange: ['without rules[0].critical (c.yaml:3:15) it is not protected'],
    });
  });

  test('shows the entry of the list of protected units, and its reason', () => {
    const { rule, why } = protectedUnit('/system.slice/etcd-events.service', { isOperator: () => false, isNamedByRoot: () => true }) ?? {};
    const ranking = RANKING.map((item) => ({ ...item, protection: { kind: 'unit', rule: rule ?? '', why: why ?? '' } as const }));
    const { workload: said } = explainNow(moment(400n, { ranking }), ranking[0]);
    expect(said?.protection?.because).toBe('protected unit (etcd-*.service): the state of a cluster');
  });

  test.each<[protection: Protection, change: RegExp]>([
    [{ kind: 'self' }, /nothing: evictd/],
    [{ kind: 'unit', rule: 'dbus*', why: 'the bus' }, /critical: false/],
    [{ kind: 'omit' }, /ManagedOOMPreference=none/],
    [{ kind: 'budget' }, /evictd resume/],
  ])('shows the end of protection %s', (protection, change) => {
    const ranking = RANKING.map((item) => ({ ...item, protection }));
    const [first] = ranking;
    expect(explainNow(moment(400n, { ranking }), first).workload?.wouldChange[0]).toMatch(change);
  });
});

test.each<[rule: string, ladder: Partial<Ladder>, why: string]>([
  ['the current step', {}, 'acting: kill, step 2 of 2'],
  [
    'the current step and the reason for its wait',
    { refusedBecause: 'the eviction budget is used up' },
    'acting: kill, step 2 of 2, waits: the eviction budget is used up',
  ],
])('the state of an acting policy: %s', (_rule, overrides, why) => {
  const ladder: Ladder = { ...atStep(atStep(undefined, [0, 'notify'], undefined, 0n), [1, 'kill'], undefined, 0n), ...overrides };
  const scopes = new Map([['p', { policy: 'p', scope: '/a', holdsSinceNs: 0n, ladder }]]);
  const acting = { ...initialState, policies: { ...initialState.policies, scopes } };
  expect(explainNow(moment(400n, { policy: policy([], { policies: [ofCgroup([NOTIFY, KILL])] }), state: acting })).policies).toMatchObject([
    { name: 'p', scope: '/a', why },
  ]);
});

test('a policy about a named cgroup shows the value of that cgroup', () => {
  const when = condition('cgroup(/db).memory.current > 100Mi & memory.current > 1Mi', 'cgroup');
  const named = new Map([['/db', { readings: [reading('/db', 0n, { 'memory.current': 300 * 1024 * 1024 })] }]]);
  const read = new Map([['p', [reading('/a', 0n, { 'memory.current': 1024 * 1024 })]]]);
  const state = { ...initialState, policies: { ...initialState.policies, read, named } };
  const configured = policy([], { policies: [ofCgroup([NOTIFY], { when })] });
  expect(explainNow(moment(400n, { policy: configured, state })).policies).toMatchObject([
    { holds: false, readings: 'cgroup(/db).memory.current 300MiB, memory.current 1MiB', why: 'does not hold' },
  ]);
});

test('each cgroup of a policy is explained whether or not the condition holds for it, those with a ladder first', () => {
  const ladder = atStep(undefined, [0, 'kill'], undefined, 0n);
  const scopes = new Map([[scopeKey('p', '/b', 2n), { policy: 'p', scope: '/b', holdsSinceNs: 0n, ladder }]]);
  const using = (path: string, id: bigint, bytes: number): ScopeReading => ({ ...reading(path, 0n, { 'memory.current': bytes }), id });
  const read = new Map([['p', [using('/a', 1n, 1 << 20), using('/b', 2n, 300 << 20)]]]);
  const state = { ...initialState, policies: { ...initialState.policies, scopes, read } };
  const configured = policy([], { policies: [ofCgroup([KILL], { when: condition('memory.current > 100Mi', 'cgroup') })] });
  expect(explainNow(moment(400n, { policy: configured, state })).policies).toMatchObject([
    { scope: '/b', holds: true, readings: 'memory.current 300MiB', why: 'acting: kill, step 1 of 1' },
    { scope: '/a', holds: false, readings: 'memory.current 1MiB', why: 'does not hold' },
  ]);
});

test('a policy with an unreadable metric names it', () => {
  const when = condition('memory.current > 90% of memory.max & pgscan > 5 over 30s & node.memory.anon rising', 'cgroup');
  const read = new Map([['p', [reading('/a', 0n, { 'memory.current': 1, 'memory.max': 1 })]]]);
  const state = { ...initialState, policies: { ...initialState.policies, read } };
  const configured = ofCgroup([NOTIFY], { when, unless: condition('memory.current > 1Gi', 'cgroup') });
  expect(explainNow(moment(400n, { policy: policy([], { policies: [configured] }), state })).policies).toMatchObject([
    {
      holds: null,
      why: 'not known now: pgscan, node.memory.anon',
      condition: expect.stringMatching(/ unless memory.current > 1Gi$/) as string,
    },
  ]);
});
