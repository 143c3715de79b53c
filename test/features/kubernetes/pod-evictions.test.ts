import { expect, test, vi } from 'vitest';
import type { Decision, Outcome, VictimReading } from '../../../src/core/decide/eviction.js';
import type { PodEvictionAnswer } from '../../../src/monitor/ports/node-pods.js';
import { eventually } from '../../support/eventually.js';
import { outcome } from '../notify/evictions.js';
import type { Ask } from '../../../src/features/kubernetes/reports/report-ports.js';
import { failure, type Answer } from '../../support/kubernetes/answers.js';
import { agent, budget, cluster, type Cluster } from './cluster.js';
import { disruption, eviction, PART, request, softEviction } from './pod.js';

/** What a step has read of the victim. */
const reads = (reading: Partial<VictimReading>) => ({
  victims: new Map([
    [
      eviction().serial,
      { ...{ processes: 1, usageBytes: 0n, removed: false, vanished: false, error: undefined, signalledAtNs: undefined }, ...reading },
    ],
  ]),
});
const UNREAD = { victims: new Map<number, VictimReading>() };
/** The signal that the step before has sent. */
const SIGNALLED = { effects: [], input: reads({ signalledAtNs: 1n }) };
const PROTECTED = 'shop/web is protected (evictd) and must not be evicted';

const decided = (decision = eviction()) => ({ effects: [{ kind: 'evict' as const, decision }], input: UNREAD });

const over = (result: Outcome['result'], rest: Partial<Outcome> = {}, reading: Partial<VictimReading> = { signalledAtNs: 1n }) => ({
  effects: [{ kind: 'outcome' as const, outcome: { ...outcome(eviction(), result), ...rest } }],
  input: reads(reading),
});

const changesOf = ({ server }: Cluster) => server.received.map(({ method }) => method).filter((method) => method !== 'GET');

const listed = ({ server }: Cluster) => server.received.filter(({ path }) => path.endsWith('/poddisruptionbudgets')).length;

const sent = (): boolean => true;

/** Calls that were sent before this one have arrived. */
async function roundTrip({ ask }: Cluster): Promise<void> {
  await ask({ method: 'GET', path: '/api/v1/namespaces/shop/pods/web', withinMs: 10_000 });
}

const isAnswer = (answer: PodEvictionAnswer): boolean => answer !== 'unsent' && !(typeof answer === 'object' && 'sentNs' in answer);

async function answered(answer: () => PodEvictionAnswer): Promise<PodEvictionAnswer> {
  await eventually('it is answered', () => isAnswer(answer()));
  return answer();
}

test('a killed pod gets its condition beside the others, and is deleted with a grace period of one second', async () => {
  const at = await cluster();
  const saved = { section: undefined };
  const { queue, calls } = agent(at, saved);
  calls.stepped(decided());
  calls.stepped(SIGNALLED);
  await eventually('it is told', () => queue.size === 0);
  expect(at.pod()).toMatchObject({
    metadata: { deletionGracePeriodSeconds: 1 },
    status: {
      conditions: [
        { type: 'Ready', status: 'True' },
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'TerminationByKubelet',
          message: expect.stringContaining('memory.available 12MiB < 100Mi') as string,
        },
      ],
    },
  });
  calls.stepped(over('killed'));
  expect(saved.section).toBeUndefined();
});

test.each<[rule: string, isResumed: boolean]>([
  ['waits for its hooks', false],
  ['waits after a restart', true],
])('a pod whose signal %s has a pending deletion, and no call is made before', async (_rule, isResumed) => {
  const at = await cluster();
  const saved = { section: undefined };
  const first = agent(at, saved);
  first.calls.stepped(decided());
  if (isResumed) first.calls.close();
  const { queue, calls } = isResumed ? agent(at, saved, 'respect', [eviction()]) : first;
  calls.stepped({ effects: [], input: reads({}) });
  expect(saved.section).toEqual([expect.objectContaining({ uid: PART.uid, next: 'condition' })]);
  await roundTrip(at);
  expect(changesOf(at)).toEqual([]);
  calls.stepped(SIGNALLED);
  await eventually('it is told', () => queue.size === 0);
  expect(changesOf(at)).toEqual(['PATCH', 'DELETE']);
});

test.each<[rule: string, result: Outcome['result'], reading: Partial<VictimReading>]>([
  ['is refused', 'failed', { error: PROTECTED }],
  ['could not be sent', 'failed', { error: 'EMFILE', signalledAtNs: 1n, passing: 'unsent' }],
  ['finds it gone', 'vanished', { processes: 0, vanished: true }],
])('a pod whose signal %s is left unchanged', async (_rule, result, reading) => {
  const at = await cluster();
  const saved = { section: undefined };
  const { queue, calls } = agent(at, saved);
  calls.stepped(decided());
  calls.stepped({ effects: [], input: reads(reading) });
  calls.stepped(over(result, { processesLeft: 1, error: reading.error }, reading));
  expect([queue.size, saved.section]).toEqual([0, undefined]);
  await roundTrip(at);
  expect(changesOf(at)).toEqual([]);
});

test('a pod of which only some processes got the signal is deleted', async () => {
  const at = await cluster();
  const { queue, calls } = agent(at, { section: undefined });
  calls.stepped(decided());
  calls.stepped({ effects: [], input: reads({ error: 'EPERM', signalledAtNs: 1n, passing: 'in part' }) });
  await eventually('it is told', () => queue.size === 0);
  expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(1);
});

test('a pod that has not ended in time after its signal is deleted', async () => {
  const at = await cluster();
  const { queue, calls } = agent(at, { section: undefined });
  calls.stepped(decided());
  calls.stepped(over('failed', { processesLeft: 1 }));
  await eventually('it is told', () => queue.size === 0);
  expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(1);
});

test('a dry run and the eviction of one process of a pod make no call', async () => {
  const at = await cluster();
  const { queue, calls } = agent(at, { section: undefined });
  const { victim } = eviction();
  const process = { path: '', pid: 1, startTicks: 1n, command: '', residentBytes: 0n, anonBytes: 0n, swapBytes: 0n, oomScore: 0 };
  calls.stepped(decided(eviction({ dryRun: true })));
  calls.stepped(decided(eviction({ victim: { ...victim, process } })));
  expect(queue.stateOf(PART.uid)).toBeUndefined();
});

test('another pod that has the name now is left unchanged', async () => {
  const at = await cluster();
  const { queue, calls } = agent(at, { section: undefined });
  const other = at.server.store.put('pods', { ...at.pod(), metadata: { name: 'web', namespace: 'shop', uid: 'u-2' } });
  calls.stepped(decided());
  calls.stepped(SIGNALLED);
  await eventually('it is done', () => queue.size === 0);
  expect(at.pod()).toEqual(other);
});

test('a pod that had ended before its eviction is not deleted, also when the server is back later', async () => {
  const at = await cluster();
  await at.server.away();
  const { queue, calls } = agent(at, { section: undefined });
  calls.stepped(decided());
  calls.stepped(over('vanished', {}, { processes: 0, vanished: true }));
  expect(queue.size).toBe(0);
});

test('a pod evicted while the server was away is deleted by another evictd when it is back', async () => {
  const at = await cluster();
  await at.server.away();
  const saved = { section: undefined };
  const first = agent(at, saved);
  first.calls.stepped(decided());
  first.calls.stepped(over('killed'));
  await eventually('it has tried', () => first.log.length > 0);
  first.calls.close();
  await at.server.back();
  const { queue, calls } = agent(at, saved);
  calls.stepped({ effects: [], input: UNREAD });
  await eventually('it is told', () => queue.size === 0);
  expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(1);
  expect(saved.section).toBeUndefined();
});

test('after a kill before the deletion was saved the next evictd deletes the pod, but not for abandoned evictions', async () => {
  const at = await cluster();
  const { queue, calls } = agent(at, { section: undefined }, 'respect', [eviction()]);
  expect(queue.stateOf(PART.uid)).toBe('condition');
  calls.stepped(over('abandoned', { processesLeft: 3 }));
  expect(queue.stateOf(PART.uid)).toBeUndefined();
  expect(at.pod()?.metadata).not.toHaveProperty('deletionTimestamp');
});

test.each<[rule: string, why: string, told: readonly string[]]>([
  ['is deleted if no evictd ran since, although the kubelet has started it again', 'no evictd ran for 90 s', ['PATCH', 'DELETE']],
  ['is left unchanged if it may not be evicted any more', 'it may not be evicted any more', []],
])('a killed pod %s', async (_rule, why, told) => {
  const at = await cluster();
  const saved = { section: undefined };
  const { queue, calls } = agent(at, saved, 'respect', [eviction()], undefined, 'no evictd ran for 90 s');
  calls.stepped(over('abandoned', { processesLeft: 3, abandoned: why }));
  await eventually('nothing is owed', () => queue.size === 0);
  await roundTrip(at);
  expect(changesOf(at)).toEqual(told);
  expect(saved.section).toBeUndefined();
});

test('with a grace period the Eviction API is used, and no deletion is pending', async () => {
  const at = await cluster();
  const { queue, calls } = agent(at, { section: undefined });
  const decision = softEviction();
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  expect(await answered(answer)).toBe('accepted');
  expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(30);
  expect(queue.stateOf(PART.uid)).toBeUndefined();
  calls.stepped({ effects: [{ kind: 'escalate', decision, reason: 'hard threshold met' }], input: UNREAD });
  calls.stepped(SIGNALLED);
  await eventually('it is shortened', () => at.pod()?.metadata.deletionGracePeriodSeconds === 1);
});

test.each([
  ['a budget that permits no eviction', ['web'], 'does not permit it now: the API server answers 429', 'budget'],
  ['several', ['web', 'all'], 'the API server answers 500: This pod has more than one PodDisruptionBudget', 'several-budgets'],
])('the answer of disruption budgets: %s', async (_rule, names, why, reason) => {
  const at = await cluster();
  for (const name of names) budget(at, name, 0);
  const { calls, refused } = agent(at, { section: undefined });
  const given = await answered(calls.request(request(softEviction())));
  expect(given).toEqual({ refused: expect.stringContaining(why) as string });
  expect(at.pod()?.metadata).not.toHaveProperty('deletionTimestamp');
  expect(refused).toEqual([reason]);
});

test('budgets that a node-pressure eviction violates are counted once, and not read before the signal', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  budget(at, 'free', 1);
  const { calls, violated } = agent(at, { section: undefined });
  calls.stepped(decided());
  await roundTrip(at);
  expect(listed(at)).toBe(0);
  calls.stepped(SIGNALLED);
  calls.stepped(SIGNALLED);
  await eventually('they are counted', () => violated.length > 0);
  expect(violated).toEqual(['shop/strict']);
  expect(listed(at)).toBe(1);
});

test.each(['away', 429, 503] as const)(
  'budgets that could not be listed (%s) are counted when the API server is back, once',
  async (how) => {
    const at = await cluster();
    budget(at, 'strict', 0);
    if (how === 'away') await at.server.away();
    else at.server.instead = () => failure(how, 'later');
    const { queue, calls, log, violated } = agent(at, { section: undefined });
    calls.stepped(decided());
    calls.stepped(SIGNALLED);
    await eventually('it has tried', () => log.length > 0 && (how === 'away' || listed(at) > 0));
    calls.stepped(over('killed'));
    expect(violated).toEqual([]);
    at.server.instead = ({ path }) => (path.includes('/pods/') ? failure(503, 'the pod is not deleted yet') : undefined);
    if (how === 'away') await at.server.back();
    await eventually('they are counted', () => {
      calls.serverIsBack();
      return violated.length > 0;
    });
    at.server.instead = () => undefined;
    await eventually('it is told', () => queue.size === 0);
    calls.serverIsBack();
    await roundTrip(at);
    expect(violated).toEqual(['shop/strict']);
  },
);

test('when the API server is back, its budgets are listed once for each namespace, before the queue of the deletions is told', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  let isAway = true;
  let list = (): void => undefined;
  const asked: string[] = [];
  const ask: Ask = async (call) => {
    if (isAway) throw new Error('no answer in time');
    const isList = call.path.endsWith('/poddisruptionbudgets');
    if (isList) asked.push(call.path);
    if (isList && call.path.includes('/shop/')) await new Promise<void>((resolve) => (list = resolve));
    return at.ask(call);
  };
  const { queue, calls, violated } = agent({ ask }, { section: undefined });
  const { victim } = eviction();
  const pods = ['shop', 'shop', 'shop', 'mail', 'mail'].map((namespace, index) => ({ ...PART, namespace, uid: `u-${String(index)}` }));
  const decisions = pods.map((kubernetes, index) => {
    return eviction({ serial: index + 1, victim: { ...victim, workload: { ...victim.workload, kubernetes } } });
  });
  const reading = reads({ signalledAtNs: 1n }).victims.get(eviction().serial);
  calls.stepped({ effects: decisions.map((decision) => ({ kind: 'evict' as const, decision })), input: UNREAD });
  calls.stepped({ effects: [], input: { victims: new Map(decisions.flatMap(({ serial }) => (reading ? [[serial, reading]] : []))) } });
  await roundTrip(at);
  isAway = false;
  const isBack = vi.spyOn(queue, 'serverIsBack');
  calls.serverIsBack();
  await roundTrip(at);
  expect(asked).toEqual(['shop', 'mail'].map((namespace) => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`));
  expect(isBack).not.toHaveBeenCalled();
  list();
  await eventually('it is told', () => isBack.mock.calls.length === 1);
  expect(violated).toEqual(['shop/strict', 'shop/strict', 'shop/strict']);
});

test('budgets of a pod that is deleted meanwhile are not counted later: its deletion has changed them', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  at.server.instead = ({ path }) => (path.endsWith('/poddisruptionbudgets') ? failure(503, 'later') : undefined);
  const { queue, calls, violated } = agent(at, { section: undefined });
  calls.stepped(decided());
  calls.stepped(SIGNALLED);
  await eventually('it is told', () => queue.size === 0 && listed(at) === 1);
  at.server.instead = () => undefined;
  await roundTrip(at);
  calls.serverIsBack();
  await roundTrip(at);
  expect([listed(at), violated]).toEqual([1, []]);
});

test('without the permission to list budgets none is counted, and evictd does not ask again', async () => {
  const at = await cluster({ token: 'kubelet-token' });
  const { queue, calls, violated } = agent(at, { section: undefined });
  calls.stepped(decided());
  calls.stepped(SIGNALLED);
  await eventually('it is told', () => queue.size === 0 && listed(at) === 1);
  await roundTrip(at);
  calls.serverIsBack();
  await roundTrip(at);
  expect([listed(at), violated]).toEqual([1, []]);
});

test('a list of budgets that cannot be read does not stop the eviction', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  let hasFailed = false;
  const ask: Ask = async (call) => {
    const answer = await at.ask(call);
    if (!call.path.endsWith('/poddisruptionbudgets')) return answer;
    hasFailed = true;
    return {
      ...answer,
      get body(): unknown {
        throw new TypeError('body is no object');
      },
    };
  };
  const { queue, calls, violated } = agent({ ask }, { section: undefined });
  calls.stepped(decided());
  calls.stepped(SIGNALLED);
  await eventually('it is told', () => hasFailed && queue.size === 0);
  expect(violated).toEqual([]);
});

test('with ignored budgets the condition is sent, then DELETE with the grace period, and violations are counted once', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  const { calls, violated } = agent(at, { section: undefined }, 'ignore');
  const decision = softEviction();
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  calls.stepped(SIGNALLED);
  expect(await answered(answer)).toBe('accepted');
  expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(30);
  expect(changesOf(at)).toEqual(['PATCH', 'DELETE']);
  calls.stepped({ effects: [{ kind: 'escalate', decision, reason: 'hard threshold met' }], input: UNREAD });
  calls.stepped(SIGNALLED);
  await eventually('it is shortened', () => at.pod()?.metadata.deletionGracePeriodSeconds === 1);
  expect(violated).toEqual(['shop/strict']);
});

test('a NoExecute taint sends the condition of the taint manager, and DELETE with the grace period, without the budgets', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  const { calls } = agent(at, { section: undefined });
  const decision = disruption('taint');
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  calls.stepped(SIGNALLED);
  expect(await answered(answer)).toBe('accepted');
  expect(at.pod()).toMatchObject({
    metadata: { deletionGracePeriodSeconds: 30 },
    status: { conditions: [{ type: 'Ready' }, { type: 'DisruptionTarget', reason: 'DeletionByTaintManager' }] },
  });
  expect(at.server.received.map(({ method }) => method)).toEqual(['PATCH', 'DELETE']);
});

test('a drain of a pod with a grace period of a second still asks the budget', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  const { queue, calls } = agent(at, { section: undefined });
  const decision = disruption('drain', 1_000_000_000n);
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  expect(await answered(answer)).toHaveProperty('refused');
  expect(queue.size).toBe(0);
});

const DENIED = failure(429, 'pods "web" is forbidden: admission webhook "evict.example" denied the request: it is moved first');
const BUSY: Answer = { code: 429, body: 'Too many requests, please try again later.', headers: { 'retry-after': '0' } };
const CONFLICT = failure(409, 'Operation cannot be fulfilled on poddisruptionbudgets.policy "web": the object has been modified');

/** The server gives these answers to requests for evictions first. */
function answers({ server }: Cluster, ...given: Answer[]): void {
  server.instead = ({ path }) => (path.endsWith('/eviction') ? given.shift() : undefined);
}

test.each([softEviction(), disruption('drain')])(
  'an admission webhook that denies the eviction is obeyed, whatever its code',
  async (decision) => {
    const at = await cluster();
    answers(at, DENIED);
    const { queue, calls, refused } = agent(at, { section: undefined });
    const answer = calls.request(request(decision));
    calls.stepped(decided(decision));
    expect(await answered(answer)).toEqual({ refused: expect.stringContaining('denied the request: it is moved first') as string });
    expect([queue.size, refused, changesOf(at)]).toEqual([0, ['refused'], ['POST']]);
  },
);

test.each<[rule: string, first: Answer]>([
  ['is overloaded', BUSY],
  ['has a conflict with another program', CONFLICT],
])('an API server that %s is asked again, and the time counts from the first request', async (_rule, first) => {
  const at = await cluster();
  answers(at, first, first);
  const { queue, calls } = agent(at, { section: undefined });
  const decision = softEviction();
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  await eventually('it is sent', () => answer() !== 'unsent');
  const sent = answer();
  await eventually('it is sent again', () => changesOf(at).length > 1);
  if (!isAnswer(answer())) expect(answer()).toEqual(sent);
  expect(await answered(answer)).toBe('accepted');
  expect([queue.size, changesOf(at)]).toEqual([0, ['POST', 'POST', 'POST']]);
});

const ENDS: readonly [rule: string, end: (calls: ReturnType<typeof agent>['calls'], decision: Decision) => void][] = [
  [
    'evictd has ended the pod itself',
    (calls) => {
      calls.endItself(softEviction().victim.workload, sent);
    },
  ],
  [
    'the eviction is over',
    (calls, decision) => {
      calls.stepped(over('abandoned', { decision, processesLeft: 1 }));
    },
  ],
  [
    'a hard threshold is met',
    (calls) => {
      calls.stepped({ effects: [{ kind: 'escalate', decision: softEviction(), reason: 'hard threshold met' }], input: UNREAD });
    },
  ],
  [
    'evictd ends',
    (calls) => {
      calls.close();
    },
  ],
];

test.each(ENDS)('an API server that is busy is not asked again after %s', async (_rule, end) => {
  const at = await cluster();
  at.server.instead = ({ path }) => (path.endsWith('/eviction') ? BUSY : undefined);
  const { calls } = agent(at, { section: undefined });
  const decision = softEviction();
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  await eventually('it has asked', () => changesOf(at).length > 0);
  end(calls, decision);
  expect(await answered(answer)).toBe('unanswered');
});

test.each<[rule: string, isAway: boolean, given: Answer | undefined, why: string]>([
  ['that is known to be away', true, undefined, 'does not answer'],
  ['that is away', false, undefined, 'does not answer'],
  ['that fails', false, failure(500, 'etcdserver: request timed out'), 'does not answer'],
  ['that is busy for longer than evictd waits', false, { ...BUSY, headers: { 'retry-after': '20' } }, 'answers 429'],
])('a drain and an operator do not end a pod without an answer of an API server %s', async (_rule, isAway, given, why) => {
  for (const reason of ['drain', 'eviction'] as const) {
    const at = await cluster();
    if (given === undefined) await at.server.away();
    else answers(at, given);
    const { queue, calls } = agent(at, { section: undefined }, 'respect', [], undefined, undefined, () => isAway);
    const decision = disruption(reason);
    const answer = calls.request(request(decision));
    calls.stepped(decided(decision));
    expect(await answered(answer)).toEqual({ refused: expect.stringContaining(`the API server ${why}`) as string, isUnanswered: true });
    expect(queue.size).toBe(0);
  }
});

test('a drain waits for the answer of a slow API server', async () => {
  const at = await cluster();
  let isSent = false;
  const ask: Ask = (call) => {
    call.beforeSend?.();
    isSent = true;
    return new Promise(() => undefined);
  };
  const { calls } = agent({ ...at, ask }, { section: undefined });
  const answer = calls.request(request(disruption('drain')));
  await eventually('it is sent', () => isSent);
  expect(answer()).toBe('unsent');
});

test('the timeout of the answer begins when the request is sent, and not while the eviction waits for the taint', async () => {
  const at = await cluster();
  at.server.answers = 'hang';
  let taint = (): void => undefined;
  const tainted = () => new Promise<void>((resolve) => (taint = resolve));
  const { calls } = agent(at, { section: undefined }, 'respect', [], tainted);
  const answer = calls.request(request(softEviction()));
  await new Promise((resolve) => setImmediate(resolve));
  expect(answer()).toBe('unsent');
  const beforeNs = process.hrtime.bigint();
  taint();
  await eventually('it is sent', () => answer() !== 'unsent');
  expect((answer() as { sentNs: bigint }).sentNs).toBeGreaterThanOrEqual(beforeNs);
});

/** A server behind the rate limit of evictd's client, which lets a call through when `next` is called. */
function limited(at: Cluster) {
  const waiting: (() => void)[] = [];
  const ask: Ask = async (call) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return at.ask(call);
  };
  return { ask, next: () => waiting.shift()?.(), waits: () => eventually('a call waits', () => waiting.length > 0) };
}

test.each(ENDS)('an eviction that waits for the rate limit is not requested any more after %s', async (_rule, end) => {
  const at = await cluster();
  const limit = limited(at);
  const { calls } = agent(limit, { section: undefined });
  const decision = disruption('drain');
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  await limit.waits();
  end(calls, decision);
  limit.next();
  await answered(answer);
  expect(changesOf(at).filter((method) => method === 'POST')).toEqual([]);
});

test('a pod that is evicted again in the step in which its drain has failed is asked for', async () => {
  const at = await cluster();
  const limit = limited(at);
  const { calls } = agent(limit, { section: undefined });
  const [drained, again] = [disruption('drain'), softEviction()];
  calls.request(request(drained));
  calls.stepped(decided(drained));
  await limit.waits();
  calls.request(request(again)); // before the step is told
  calls.stepped({ ...over('failed', { decision: drained, processesLeft: 1 }), ...{ input: UNREAD } });
  calls.stepped(decided(again));
  limit.next();
  await limit.waits();
  limit.next();
  await eventually('it is asked for', () => changesOf(at).length > 0);
  await roundTrip(at);
  expect(changesOf(at)).toEqual(['POST']);
});

test.each<[rule: string, decision: Decision, isResumed: boolean, answered: number]>([
  ['of an eviction', softEviction(), false, 0],
  ['of the read after a restart', softEviction(), true, 0],
  ['of the eviction after that read', softEviction(), true, 1],
  ['of the condition before DELETE', disruption('taint'), false, 0],
])('the timeout of the answer does not include the wait for the rate limit: %s', async (_rule, decision, isResumed, calls) => {
  const at = await cluster();
  const limit = limited(at);
  const { calls: evictions } = agent(limit, { section: undefined });
  const answer = evictions.request(request(decision, isResumed));
  evictions.stepped(decided(decision));
  evictions.stepped(SIGNALLED);
  for (let sent = 0; sent < calls; sent += 1) {
    await limit.waits();
    limit.next();
  }
  await limit.waits();
  expect(answer()).toBe('unsent');
  const beforeNs = process.hrtime.bigint();
  at.server.answers = 'hang';
  limit.next();
  await eventually('it is sent', () => answer() !== 'unsent');
  expect((answer() as { sentNs: bigint }).sentNs).toBeGreaterThanOrEqual(beforeNs);
});

test.each([false, true])(
  'without an answer (known to be away: %s) evictd signals the pod itself, and sends the calls later',
  async (isAway) => {
    const at = await cluster();
    budget(at, 'strict', 0);
    await at.server.away();
    const { queue, calls, violated } = agent(at, { section: undefined }, 'respect', [], undefined, undefined, () => isAway);
    const decision = softEviction();
    const { workload } = decision.victim;
    const answer = calls.request(request(decision));
    if (isAway) expect(answer()).toBe('unanswered');
    calls.stepped(decided(decision));
    expect(await answered(answer)).toBe('unanswered');
    await at.server.back();
    calls.endItself(workload, sent);
    await eventually('it is told', () => queue.size === 0 && violated.length > 0);
    expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(30);
    expect(violated).toEqual(['shop/strict']);
    expect(changesOf(at)).toEqual(['PATCH', 'DELETE']);
  },
);

test('after a lost answer to an accepted eviction evictd signals the pod itself, and repeats no call', async () => {
  const at = await cluster();
  const ask: Ask = async (call) => {
    const answer = await at.ask(call);
    if (call.method === 'POST') throw new Error('no answer in time');
    return answer;
  };
  const { queue, calls } = agent({ ask }, { section: undefined });
  const decision = softEviction();
  const answer = calls.request(request(decision));
  calls.stepped(decided(decision));
  expect(await answered(answer)).toBe('unanswered');
  calls.endItself(decision.victim.workload, sent);
  await eventually('it is read', () => queue.size === 0);
  expect(changesOf(at)).toEqual(['POST']);
});

test('an eviction that was not accepted before a hard threshold violates budgets, and an accepted one does not', async () => {
  const at = await cluster();
  budget(at, 'strict', 0);
  const { calls, violated } = agent(at, { section: undefined });
  const decision = softEviction();
  const escalate = { effects: [{ kind: 'escalate' as const, decision, reason: 'hard threshold met' as const }], input: UNREAD };
  at.server.answers = 'hang';
  calls.request(request(decision));
  calls.stepped(decided(decision));
  calls.stepped(escalate);
  at.server.answers = 'now';
  calls.stepped(SIGNALLED);
  await eventually('they are counted', () => violated.length > 0);
  budget(at, 'strict', 1);
  const other = agent(at, { section: undefined });
  const answer = other.calls.request(request(decision));
  other.calls.stepped(decided(decision));
  expect(await answered(answer)).toBe('accepted');
  budget(at, 'strict', 0);
  other.calls.stepped(escalate);
  other.calls.stepped(SIGNALLED);
  await eventually('it is shortened', () => at.pod()?.metadata.deletionGracePeriodSeconds === 1);
  expect([violated, other.violated]).toEqual([['shop/strict'], []]);
});

/** kill -9 in a soft eviction. `died`: what the evictd before had done. */
test.each<[died: string, isAccepted: boolean, signal: 'none' | 'sending' | 'saved', changes: string[]]>([
  ['before the POST had its effect', false, 'none', ['POST']],
  ['after the POST had its effect', true, 'none', []],
  ['around its own SIGTERM', false, 'sending', ['PATCH', 'DELETE']],
  ['around its own SIGTERM, after the POST had its effect', true, 'sending', []],
  ['after it had sent SIGTERM itself, and saved that', false, 'saved', ['PATCH', 'DELETE']],
  ['after it had saved its own SIGTERM, and the POST had its effect', true, 'saved', []],
])('after kill -9 %s the next evictd neither repeats nor forgets a call or a signal', async (_died, isAccepted, signal, changes) => {
  const at = await cluster();
  budget(at, 'strict', signal === 'none' || isAccepted ? 2 : 0);
  const saved = { section: undefined };
  const decision = softEviction();
  const ask: Ask = async (call) => {
    if (isAccepted && call.method === 'POST') await at.ask(call);
    return Promise.reject(new Error('killed'));
  };
  const first = agent({ ask }, saved);
  const lost = first.calls.request(request(decision));
  first.calls.stepped(decided(decision));
  await answered(lost);
  let { section } = saved;
  if (signal !== 'none') first.calls.endItself(decision.victim.workload, () => ((section = saved.section), true));
  if (signal === 'saved') ({ section } = saved);
  first.calls.close();
  at.server.received.length = 0;
  const next = agent(at, { section }, 'respect', [decision]);
  const answer = next.calls.request(request(decision, true));
  next.calls.stepped(SIGNALLED);
  expect(await answered(answer)).toBe('accepted');
  await eventually('nothing is owed', () => next.queue.size === 0);
  await roundTrip(at);
  expect(next.violated).toEqual(signal === 'sending' && !isAccepted ? ['shop/strict'] : []);
  expect(changesOf(at)).toEqual(changes);
  expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(30);
});

test.each(['before', 'after'])(
  'after kill -9 %s the second DELETE of an escalation had its effect, that DELETE is made once',
  async (when) => {
    const at = await cluster();
    const saved = { section: undefined };
    const decision = softEviction();
    let hasDied = false;
    const ask: Ask = async (call) => {
      if (call.method !== 'DELETE') return at.ask(call);
      if (when === 'after') await at.ask(call);
      hasDied = true;
      return Promise.reject(new Error('killed'));
    };
    const first = agent({ ask }, saved);
    await answered(first.calls.request(request(decision)));
    first.calls.stepped(decided(decision));
    first.calls.stepped({ effects: [{ kind: 'escalate', decision, reason: 'hard threshold met' }], input: UNREAD });
    first.calls.stepped(SIGNALLED);
    await eventually('it is killed', () => hasDied);
    first.calls.close();
    const next = agent(at, saved, 'respect', [decision]);
    next.calls.stepped(SIGNALLED);
    await eventually('nothing is owed', () => next.queue.size === 0);
    expect(changesOf(at)).toEqual(['POST', 'DELETE']);
    expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(1);
  },
);

test('an evictd that starts during an eviction does not request it again', async () => {
  const at = await cluster();
  const decision = softEviction();
  await answered(agent(at, { section: undefined }).calls.request(request(decision)));
  at.server.received.length = 0;
  const next = agent(at, { section: undefined }, 'respect', [decision]);
  expect(await answered(next.calls.request(request(decision, true)))).toBe('accepted');
  expect(at.server.received.map(({ method }) => method)).toEqual(['GET']);
});
