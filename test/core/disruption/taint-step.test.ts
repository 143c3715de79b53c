import { describe, expect, test } from 'vitest';
import { takeOver } from '../../../src/core/decide/remembered-state.js';
import type { TaintRequest } from '../../../src/core/disruption/operator-request.js';
import { parseTaint, taintText } from '../../../src/core/disruption/taint.js';
import { taintsInForce } from '../../../src/core/disruption/taint-step.js';
import type { Toleration } from '../../../src/core/disruption/toleration.js';
import { decisionMessage } from '../../../src/core/message/message.js';
import type { Candidates, Workload } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

const PLENTY = { 'memory.available': 500n * Mi };
const INTERVAL = 10n * SECOND;
const tolerates = (tolerationSeconds?: bigint): readonly Toleration[] => [
  { key: 'maintenance', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds },
];
type Used = [Workload, bigint];
const DB: Used = [workload('db', { protection: { kind: 'critical' } }), Mi];
const API: Used = [workload('api', { tolerations: tolerates() }), Mi];
const WEB: Used = [workload('web', { tolerations: tolerates(25n) }), Mi];
const BATCH: Used = [workload('batch'), Mi];

/** Boot time is an hour ahead of the monotonic clock. */
const booted = (seconds: number): bigint => BigInt(Math.round((seconds + 3600) * 1e9));

class Tainted extends Timeline {
  constructor(all: Candidates, overrides: Parameters<typeof policy>[1] = {}) {
    super(policy([threshold('memory.available', '100Mi')], { monitoringIntervalNs: INTERVAL, ...overrides }), all);
  }

  look(seconds: number, rest: Parameters<Timeline['effects']>[3] = {}, victims: Parameters<Timeline['effects']>[2] = {}): string[] {
    return this.effects(seconds, PLENTY, victims, { bootNs: booted(seconds), ...rest });
  }
}

const change = (set: readonly string[], remove: readonly string[] = []): { readonly request: TaintRequest } => ({
  request: { kind: 'taint', set: set.map(parseTaint), remove: remove.map(parseTaint) },
});
const MAINTENANCE = 'maintenance=yes:NoExecute';

describe('a NoExecute taint', () => {
  test('evicts workloads without a toleration at once, and those with tolerationSeconds after that time', () => {
    const made = new Tainted(candidates(DB, API, WEB, BATCH));
    expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`, 'taint waits web', 'evict batch grace 30']);
    made.candidates = candidates(DB, API, WEB);
    expect(made.look(2, {}, { 1: { processes: 0 } })).toEqual(['killed batch 0Mi']);
    expect([made.look(11), made.look(21)]).toEqual([[], []]);
    expect(made.dueAtNs).toBe(26n * SECOND); // and not with the next look, which would be later
    expect(made.look(25.9)).toEqual([]);
    expect(made.look(26)).toEqual(['evict web grace 30']);
    expect(made.state.evictions.map(({ decision }) => decisionMessage(decision).split('; ')[0])).toEqual([
      'evicting web with SIGTERM, SIGKILL after 30s: it tolerated the taint maintenance=yes:NoExecute for 25s',
    ]);
  });

  test('leaves the pod of a DaemonSet, whose controller would make it again', () => {
    const part = { uid: 'u', namespace: 'n', name: 'agent', labels: {}, priority: 0 };
    const agent = (kind: string): Used => [workload('agent', { kubernetes: { ...part, owner: { kind, name: 'agent' } } }), Mi];
    const made = new Tainted(candidates(agent('DaemonSet')));
    expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`]);
    made.candidates = candidates(agent('ReplicaSet'));
    expect(made.look(11)).toEqual(['evict agent grace 30']);
  });

  test('of the configuration does the same, and its removal cancels waiting evictions', () => {
    const made = new Tainted(candidates(WEB, BATCH), { taints: [parseTaint(MAINTENANCE)] });
    const [effect] = made.at(1, PLENTY, {}, { bootNs: booted(1) }).filter(({ kind }) => kind === 'evict');
    expect(effect?.kind === 'evict' && decisionMessage(effect.decision)).toContain(
      ': it does not tolerate the taint maintenance=yes:NoExecute;',
    );
    made.policy = { ...made.policy, taints: [] };
    expect(made.look(2, {}, { 1: {} })).toEqual(['taint cancelled web']);
    expect(made.state.taintEvictions.size).toBe(0);
    const looks = made.asked;
    made.look(40, {}, { 1: { processes: 0 } });
    expect(made.asked).toBe(looks);
  });

  test('that an operator removes cancels the evictions for which systemd was still being asked', () => {
    const all = candidates(BATCH);
    const made = new Tainted({ ...all, awaited: () => true });
    expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`]);
    expect(made.state.disruptions.size).toBe(1);
    made.candidates = all;
    expect(made.look(1.1, change([], [MAINTENANCE]))).toEqual([`taint removed ${MAINTENANCE}`]);
    expect(made.look(1.2)).toEqual([]);
  });

  test('that an operator removes cancels waiting evictions', () => {
    const made = new Tainted({ ...candidates(WEB), awaitedRuntimes: ['/run/containerd.sock'] });
    made.look(1, change([MAINTENANCE, 'maintenance=yes:NoSchedule']));
    expect(made.look(5, change([], [MAINTENANCE]))).toEqual([`taint removed ${MAINTENANCE}`, 'taint cancelled web']);
    expect([made.state.taints, made.state.taintEvictions.size]).toEqual([[parseTaint('maintenance=yes:NoSchedule')], 0]);
    expect(made.look(40)).toEqual([]);
  });

  test('finds new workloads with every pass, and requests no pass before', () => {
    const made = new Tainted(candidates(API));
    made.look(1, change([MAINTENANCE]));
    const looks = made.asked;
    made.candidates = candidates(API, BATCH);
    expect([made.look(5), made.asked]).toEqual([[], looks]);
    expect(made.dueAtNs).toBe(11n * SECOND);
    expect(made.look(11)).toEqual(['evict batch grace 30']);
  });

  test('counts the time in which the machine sleeps, and goes on after a restart', () => {
    const made = new Tainted(candidates(WEB));
    made.look(1, change([MAINTENANCE]));
    expect(made.look(2, { bootNs: booted(25.9) })).toEqual([]);
    const restarted = new Tainted(candidates(WEB));
    restarted.state = takeOver(made.policy, made.state, { awayNs: 2n * SECOND, sleptNs: 0n }, 3n * SECOND).state;
    expect(restarted.state.taints).toEqual([parseTaint(MAINTENANCE)]);
    expect(restarted.look(3, { bootNs: booted(26) })).toEqual(['evict web grace 30']);
    const changed = new Tainted(candidates(WEB));
    changed.state = { ...restarted.state, taints: [], taintsJudged: undefined, taintEvictions: made.state.taintEvictions, evictions: [] };
    expect(changed.look(3)).toEqual(['taint cancelled web']);
  });

  test('waits for the end of a pause', () => {
    const made = new Tainted(candidates(BATCH), { maxPauseNs: 600n * SECOND });
    made.look(0, { pause: { forNs: 60n * SECOND, reason: 'test' } });
    expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`]);
    made.look(59); // the next look would be at 69
    expect(made.look(60)).toEqual(['pause end', 'evict batch grace 30']);
  });

  test.each([
    [false, 'evict web grace 30'],
    [true, 'evict web grace 30 dry'],
  ])('causes no busy loop with a workload that has become protected, and evicts it when it no longer is; dry run: %s', (dryRun, evict) => {
    const made = new Tainted(candidates(WEB), { dryRun });
    made.look(1, change([MAINTENANCE]));
    made.candidates = candidates([{ ...WEB[0], protection: { kind: 'critical' } }, Mi]);
    expect(made.look(31)).toEqual([]);
    expect(made.dueAtNs).toBe(41n * SECOND);
    made.candidates = candidates(WEB);
    expect(made.look(41)).toEqual([evict]);
    const both = new Tainted(candidates(WEB), { dryRun });
    both.look(1, change([MAINTENANCE]));
    both.candidates = candidates([{ ...WEB[0], protection: { kind: 'critical' } }, Mi]);
    expect(both.look(2, change(['gpu:NoExecute']))).toEqual(['taint set gpu:NoExecute']);
    both.candidates = candidates(WEB);
    expect(both.look(12)).toEqual([evict]);
  });

  test('evicts no workload without a workload source, and reads none', () => {
    const made = new Tainted(candidates(WEB), { hasWorkloadSource: false });
    expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`]);
    expect([made.asked, made.state.taintEvictions.size]).toEqual([0, 0]);
    const safe = new Tainted(candidates(WEB));
    safe.look(1, change([MAINTENANCE]));
    safe.policy = { ...safe.policy, hasWorkloadSource: false };
    safe.look(30);
    expect(safe.dueAtNs ?? 31n * SECOND).toBeGreaterThan(30n * SECOND);
  });

  test('does not wait for a protected workload; a pod has its own tolerations, and processes are read before and after', () => {
    const read: string[] = [];
    const pod = { ...workload('p').pod, tolerations: tolerates() } as never;
    const critical = workload('critical', { tolerations: tolerates(5n), protection: { kind: 'critical' } });
    const all = candidates(WEB, [workload('pod', { pod }), Mi], [critical, Mi]);
    const made = new Tainted({ ...all, veto: ({ name }) => void read.push(name) });
    expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`, 'taint waits web']);
    made.look(11);
    expect(read).toEqual(['web']);
    made.candidates = { ...all, veto: ({ name }) => (name === 'web' ? { kind: 'vacant' } : undefined) };
    expect([made.look(26), made.state.taintEvictions.size]).toEqual([[], 0]);
  });

  test('is decided by the shortest toleration, and the first toleration counts for each taint', () => {
    const tolerance = (key: string, tolerationSeconds?: bigint) => ({ ...tolerates(tolerationSeconds)[0], key }) as Toleration;
    const tolerations = [tolerance('a', 60n), tolerance('a', 5n), tolerance('b', 30n), tolerance('c')];
    const made = new Tainted(candidates([workload('web', { tolerations }), Mi]));
    made.look(1, change(['a:NoExecute', 'b:NoExecute', 'c:NoExecute']));
    expect(made.state.taintEvictions.get('id-web')).toMatchObject({ taint: 'b:NoExecute', dueNs: booted(31) });
    const none = new Tainted(candidates([workload('web', { tolerations: [tolerance('a', 0n)] }), Mi]));
    const [decided] = none.at(1, PLENTY, {}, { bootNs: booted(1), ...change(['a:NoExecute']) }).filter(({ kind }) => kind === 'evict');
    expect(decided?.kind === 'evict' && decisionMessage(decided.decision)).toContain('it tolerates the taint a:NoExecute for 0s;');
  });

  test('decides once in a dry run', () => {
    const made = new Tainted(candidates(BATCH), { dryRun: true });
    expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`, 'evict batch grace 30 dry']);
    expect(made.look(11)).toEqual([]);
    made.look(12, change([], [MAINTENANCE]));
    expect(made.look(13, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`, 'evict batch grace 30 dry']);
    const short = (seconds: number) => evicted(made.effects(seconds, { 'memory.available': 50n * Mi }, {}, { bootNs: booted(seconds) }));
    expect([short(14), short(23), short(33)]).toEqual([['evict batch grace 0 dry'], [], []]); // that of the threshold is not repeated
  });
});

test('a workload without processes neither waits nor is evicted, and one that is being evicted is not cancelled', () => {
  let isVacant = true;
  const made = new Tainted({ ...candidates(WEB, BATCH), veto: () => (isVacant ? { kind: 'vacant' } : undefined) });
  expect(made.look(1, change([MAINTENANCE]))).toEqual([`taint set ${MAINTENANCE}`]);
  isVacant = false;
  expect(made.look(11)).toEqual(['taint waits web', 'evict batch grace 30']);
  made.candidates = { ...made.candidates, usages: made.candidates.usages.slice(0, 1) };
  expect(made.look(36, {}, { 1: { processes: 0 } })).toEqual(['killed batch 0Mi', 'evict web grace 30']);
  expect(made.state.taintEvictions.size).toBe(0);
  expect(made.look(37, change([], [MAINTENANCE]), { 2: {} })).toEqual([`taint removed ${MAINTENANCE}`]);
  expect(made.look(38, change([MAINTENANCE]), { 2: {} })).toEqual([`taint set ${MAINTENANCE}`]);
  isVacant = true;
  made.look(39, {}, { 2: { processes: 0 } });
  expect(made.state.taintEvictions.size).toBe(0);
});

test('after an eviction nothing is cancelled, and a workload that is started again has its whole toleration time', () => {
  const made = new Tainted(candidates(WEB));
  made.look(1, change([MAINTENANCE]));
  expect(made.look(26)).toEqual(['evict web grace 30']);
  expect(made.look(27, {}, { 1: { processes: 0 } })).toEqual(['killed web 0Mi']);
  expect([made.look(31), made.look(36)]).toEqual([[], ['taint waits web']]); // its supervisor has started it in the same cgroup
  expect([made.look(46), made.look(56), made.look(61)]).toEqual([[], [], ['evict web grace 30']]);
  expect(made.look(62, {}, { 2: { processes: 0 } })).toEqual(['killed web 0Mi']);
  expect(made.look(63, change([], [MAINTENANCE]))).toEqual([`taint removed ${MAINTENANCE}`]);
});

test('an eviction for pressure also ends the wait of that workload', () => {
  const made = new Tainted(candidates(WEB));
  made.look(1, change([MAINTENANCE]));
  expect(evicted(made.effects(2, { 'memory.available': 50n * Mi }, {}, { bootNs: booted(2) }))).toEqual(['evict web grace 0']);
  expect(made.look(3, {}, { 1: { processes: 0 } })).toEqual(expect.arrayContaining(['killed web 0Mi']));
  expect(made.state.taintEvictions.size).toBe(0);
});

test("the configuration's taints are in force, then those of operators for other keys and effects, then that of a cordoned node", () => {
  const taints = [parseTaint('a=1:NoSchedule')];
  const state = { taints: [parseTaint('a=2:NoSchedule'), parseTaint('a:NoExecute')], drain: { over: 'cordoned' } as never };
  expect(taintsInForce({ taints }, state).map(taintText)).toEqual([
    'a=1:NoSchedule',
    'a:NoExecute',
    'node.kubernetes.io/unschedulable:NoSchedule',
  ]);
});

test('a taint with another effect reads no workloads, and a taint with the same key and effect replaces the earlier one', () => {
  const made = new Tainted(candidates(BATCH));
  made.look(1, change(['maintenance=yes:NoSchedule']));
  expect(made.look(2, change(['maintenance=no:NoSchedule']))).toEqual(['taint set maintenance=no:NoSchedule']);
  expect(made.look(3, change(['maintenance=no:NoSchedule']))).toEqual([]);
  expect([made.state.taints, made.asked]).toEqual([[parseTaint('maintenance=no:NoSchedule')], 0]);
});

test('evictions of workloads that cannot be read continue, and those of workloads that have ended do not', () => {
  const made = new Tainted(candidates(WEB, [workload('late', { tolerations: tolerates(60n) }), Mi]));
  made.look(1, change([MAINTENANCE]));
  made.candidates = { ...candidates(), unreadable: [{ name: 'web', path: WEB[0].path, reason: 'EIO' }] };
  made.look(11);
  expect([...made.state.taintEvictions.keys()]).toEqual(['id-web']);
});
