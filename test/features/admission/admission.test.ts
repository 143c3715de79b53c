import { describe, expect, test, vi } from 'vitest';
import { initialState } from '../../../src/core/decide/state.js';
import { admit, applicantOf, type Applicant } from '../../../src/features/admission/admission.js';
import { postPreempt, type PreemptionParts } from '../../../src/features/admission/preemption-answer.js';
import type { ConditionType } from '../../../src/core/signal/signal.js';
import type { Taint } from '../../../src/core/disruption/taint.js';
import type { Toleration } from '../../../src/core/disruption/toleration.js';
import type { Protection, QosClass, Workload } from '../../../src/core/workload/workload.js';
import { candidates, Gi, Mi, observations, policy, workload } from '../../core/support.js';

const MEMORY: readonly ConditionType[] = ['MemoryPressure'];
const applicant = (qosClass: QosClass, more: Partial<Applicant> = {}): Applicant => ({
  critical: false,
  qosClass,
  tolerations: [],
  ...more,
});

describe('admission under node conditions', () => {
  test.each<[rule: string, conditions: readonly ConditionType[], applicant: Applicant, refused: string | undefined]>([
    ['without a condition every workload may start', [], applicant('BestEffort'), undefined],
    ['memory is short: no best-effort workload', MEMORY, applicant('BestEffort'), '[MemoryPressure]'],
    ['a Burstable workload may start although memory is short', MEMORY, applicant('Burstable'), undefined],
    ['a Guaranteed workload may start although memory is short', MEMORY, applicant('Guaranteed'), undefined],
    [
      'a critical workload may start although memory is short, whatever its class',
      MEMORY,
      applicant('BestEffort', { critical: true }),
      undefined,
    ],
    ['a disk is short: no workload', ['DiskPressure'], applicant('Guaranteed'), '[DiskPressure]'],
    ['processes are short: no workload', ['PIDPressure'], applicant('Guaranteed'), '[PIDPressure]'],
    ['a disk is short: the critical', ['DiskPressure'], applicant('BestEffort', { critical: true }), undefined],
    ['memory and more: no workload', ['MemoryPressure', 'PIDPressure'], applicant('Guaranteed'), '[MemoryPressure PIDPressure]'],
    ['conditions are named in the order given', ['PIDPressure', 'MemoryPressure'], applicant('Burstable'), '[PIDPressure MemoryPressure]'],
    ['memory twice is not memory alone', ['MemoryPressure', 'MemoryPressure'], applicant('Burstable'), '[MemoryPressure MemoryPressure]'],
  ])('%s', (_rule, conditions, pod, refused) => {
    expect(admit(conditions, pod)).toEqual(
      refused === undefined ? { admit: true } : { admit: false, reason: 'Evicted', message: `The node had condition: ${refused}. ` },
    );
  });

  const KEY = 'node.kubernetes.io/memory-pressure';
  const toleration = (fields: Partial<Toleration>): Toleration => ({ key: '', operator: '', value: '', effect: '', ...fields });

  test.each<[rule: string, toleration: Toleration, admitted: boolean]>([
    ['the taint by key, operator and effect', toleration({ key: KEY, operator: 'Exists', effect: 'NoSchedule' }), true],
    ['every effect', toleration({ key: KEY, operator: 'Exists' }), true],
    ['everything', toleration({ operator: 'Exists' }), true],
    ['the taint has another effect', toleration({ key: KEY, operator: 'Exists', effect: 'NoExecute' }), false],
    ['the taint has another key', toleration({ key: 'node.kubernetes.io/disk-pressure', operator: 'Exists' }), false],
    ['a missing operator is Equal: the value of the taint is empty', toleration({ key: KEY }), true],
    ['Equal with another value', toleration({ key: KEY, operator: 'Equal', value: 'x' }), false],
    ['Exists does not look at the value', toleration({ key: KEY, operator: 'Exists', value: 'x' }), true],
    ['every key with Equal', toleration({ operator: 'Equal' }), true],
    ['an operator that compares', toleration({ key: KEY, operator: 'Gt', value: '' }), false],
    ['an operator that does not exist', toleration({ key: KEY, operator: 'exists' }), false],
  ])('a best-effort workload that tolerates %s', (_rule, tolerates, admitted) => {
    expect(admit(MEMORY, applicant('BestEffort', { tolerations: [tolerates] })).admit).toBe(admitted);
    const second = [toleration({ key: 'x', operator: 'Exists' }), tolerates];
    expect(admit(MEMORY, applicant('BestEffort', { tolerations: second })).admit).toBe(admitted);
  });

  const NO_EXECUTE = { key: 'maintenance', value: 'yes', effect: 'NoExecute' } as const;
  const PREFER = { key: 'noisy', value: '', effect: 'PreferNoSchedule' } as const;

  test.each<[rule: string, taints: readonly Taint[], applicant: Applicant, admission: object]>([
    ['NoSchedule', [{ ...NO_EXECUTE, effect: 'NoSchedule' }], applicant('Guaranteed'), { message: /maintenance=yes:NoSchedule$/ }],
    ['NoExecute', [PREFER, NO_EXECUTE], applicant('Guaranteed'), { message: /maintenance=yes:NoExecute$/ }],
    [
      'NoExecute that is tolerated for a time',
      [NO_EXECUTE],
      applicant('Burstable', { tolerations: [toleration({ key: 'maintenance', operator: 'Exists', tolerationSeconds: 30n })] }),
      { admit: true },
    ],
    ['NoExecute: the critical', [NO_EXECUTE], applicant('BestEffort', { critical: true }), { admit: true }],
    ['PreferNoSchedule', [PREFER], applicant('BestEffort'), { admit: true, avoids: [PREFER] }],
    [
      'PreferNoSchedule that is tolerated',
      [PREFER],
      applicant('BestEffort', { tolerations: [toleration({ key: 'noisy' })] }),
      { admit: true },
    ],
  ])('a taint that an operator has set: %s', (_rule, taints, pod, expected) => {
    const { message } = expected as { message?: RegExp };
    const refusal = { admit: false, reason: 'TaintToleration', message: expect.stringMatching(message ?? '') as string };
    expect(admit([], pod, taints)).toEqual(message === undefined ? expected : refusal);
  });

  test('a condition is named before a taint', () => {
    expect(admit(['DiskPressure'], applicant('Guaranteed'), [NO_EXECUTE])).toMatchObject({ admit: false, reason: 'Evicted' });
  });

  test('a toleration of memory pressure does not help against another condition', () => {
    const tolerations = [toleration({ operator: 'Exists' })];
    expect(admit(['DiskPressure'], applicant('BestEffort', { tolerations })).admit).toBe(false);
    expect(admit(['MemoryPressure', 'DiskPressure'], applicant('BestEffort', { tolerations })).admit).toBe(false);
  });
});

test.each<[protection: Protection | undefined, critical: boolean]>([
  [undefined, false],
  [{ kind: 'critical' }, true],
  [{ kind: 'static' }, true],
  [{ kind: 'self' }, false],
])('a workload with protection %j is critical: %s', (protection, critical) => {
  expect(applicantOf(workload('a', { protection, qosClass: 'Burstable' }))).toEqual({ critical, qosClass: 'Burstable', tolerations: [] });
});

test('the answer to a preemption names the disruption budgets that the victims violate, or why evictd evicts nothing', () => {
  const requests = { ...workload('').requests, memory: 512n * Mi * 1_000_000_000n };
  const web = [1, 2].map((index) => [workload(`web-${String(index)}`, { requests }), Mi] as [ReturnType<typeof workload>, bigint]);
  const limit = { of: 'minAvailable', value: 1, isPercentage: false } as const;
  const disruptionBudgets = [{ name: 'web', match: { name: 'web-*' }, limit, unhealthyPolicy: 'IfHealthyBudget', os: 'linux' }] as const;
  const vacant = new Set<string>();
  const veto = ({ name }: Workload): Protection | undefined => (vacant.has(name) ? { kind: 'vacant' } : undefined);
  const answered = (memory: string, hasWorkloadSource = true) => {
    const standing = {
      state: initialState,
      observations: observations(1n, {}),
      policy: policy([], { disruptionBudgets, hasWorkloadSource }),
    };
    const parts = { candidates: () => ({ ...candidates(...web), veto }), monitor: { ask: () => true }, standing: () => standing };
    const body = JSON.stringify({ priority: 1, requests: { memory }, dryRun: true });
    return postPreempt({ body }, { ...parts, allocatable: () => ({ capacity: Gi, cgroup: '/' }) }).json;
  };
  expect(answered('512Mi')).toMatchObject({ answer: 'preempts', workloads: [{ path: '/web-2' }] });
  expect(JSON.stringify(answered('512Mi'))).not.toContain('violates');
  expect(answered('1Gi')).toMatchObject({ workloads: [{ path: '/web-2' }, { path: '/web-1', violates: ['web'] }] });
  expect(answered('1Gi', false)).toMatchObject({ answer: 'refused', message: expect.stringContaining('evictd evicts nothing') as string });
  vacant.add('web-1');
  expect(answered('512Mi')).toMatchObject({ answer: 'fits', used: 512 << 20 });
});

test.each<[rule: string, allocatable: ReturnType<PreemptionParts['allocatable']>, observed: bigint | undefined, capacity: bigint]>([
  ['the configured capacity', { cgroup: '/', capacity: Gi }, 3n * Gi, Gi],
  ['the limit of the cgroup', { cgroup: '/', capacity: undefined }, 3n * Gi, 3n * Gi],
  ['the memory of the node, while the cgroup does not exist', { cgroup: '/', capacity: undefined }, undefined, 8n * Gi],
  ['the memory of the node, without allocatable', undefined, undefined, 8n * Gi],
])('what fits is judged by %s', (_rule, allocatable, observed, capacity) => {
  const read = (bytes: bigint) => ({ available: 0n, capacity: bytes, timeNs: undefined, source: 'test' });
  const seen = [
    ['memory.available', read(8n * Gi)] as const,
    ...(observed ? [['allocatableMemory.available', read(observed)] as const] : []),
  ];
  const standing = { state: initialState, observations: { ...observations(1n, {}), observed: new Map(seen) }, policy: policy([]) };
  const parts = { allocatable: () => allocatable, candidates: () => candidates(), monitor: { ask: () => true }, standing: () => standing };
  const body = JSON.stringify({ requests: { memory: '1Mi' }, dryRun: true });
  expect(postPreempt({ body }, parts).json).toMatchObject({ capacity: Number(capacity) });
});

test('the name of a preempting workload is a name: each decision and the saved state have it', () => {
  const ask = vi.fn<PreemptionParts['monitor']['ask']>(() => true);
  const memory = observations(1n, { 'memory.available': Mi });
  const all = candidates([workload('batch', { requests: { ...workload('batch').requests, memory: Gi * 1_000_000_000n } }), Mi]);
  const parts = {
    ...{ allocatable: () => undefined, candidates: () => all, monitor: { ask } },
    standing: () => ({ state: initialState, observations: memory, policy: policy([]) }),
  };
  postPreempt({ body: JSON.stringify({ name: 'a\nb'.repeat(5000), priority: 1, requests: { memory: '1Mi' } }) }, parts);
  const request = ask.mock.calls[0]?.[0].request;
  const message = request?.kind === 'evict' ? request.cause.message : '';
  expect(message).toMatch(/^a\\x0ab.*of priority 1 needs room for its request of 1Mi$/);
  expect(message.length).toBeLessThan(600);
  const tooLarge = JSON.stringify({ requests: { memory: '1e400' } });
  expect(() => postPreempt({ body: tooLarge }, parts)).toThrow('requests.memory: is more than any machine has: 1e400');
});
