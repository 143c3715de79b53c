import { expect, onTestFinished, test, vi } from 'vitest';
import { backOffMs } from '../../../src/core/kubernetes/back-off.js';
import type { ApiAnswer } from '../../../src/core/kubernetes/eviction-answer.js';
import { DeletionQueue } from '../../../src/features/kubernetes/reports/deletion-queue.js';
import type { Ask } from '../../../src/features/kubernetes/reports/report-ports.js';
import type { EndedPod, PendingDeletion, PendingDeletions } from '../../../src/core/kubernetes/pending-deletion.js';
import type { Json } from '../../../src/kubernetes/json.js';
import { eventually } from '../../support/eventually.js';

/** A pod of an API server, and what was done to it. */
class Server {
  readonly calls: string[] = [];
  graceSeconds: number | undefined;
  hasCondition = false;
  /** Of the next calls; the last one again and again. undefined: as a server does. */
  answers: (number | 'none' | undefined)[] = [undefined];
  /** Called before a call has its effect, and after that. */
  onCall: (when: 'before' | 'after') => void = () => undefined;

  readonly ask: Ask = async ({ method, body }) => {
    const status = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    this.onCall('before');
    if (status === 'none') throw new Error('no answer in time');
    if (status !== undefined) return { status, body: undefined };
    const answer = this.#answer(method, body);
    this.onCall('after');
    return Promise.resolve(answer);
  };

  #answer(method: string, body: unknown): ApiAnswer {
    this.calls.push(method);
    const isDeleted = this.graceSeconds !== undefined;
    if (method === 'PATCH') this.hasCondition = true;
    if (method === 'DELETE') this.graceSeconds = (body as { readonly gracePeriodSeconds: number }).gracePeriodSeconds;
    const metadata = { uid: 'u', ...(isDeleted && { deletionTimestamp: 'now', deletionGracePeriodSeconds: this.graceSeconds }) };
    const conditions = this.hasCondition ? [{ type: 'DisruptionTarget', status: 'True' }] : [];
    return { status: 200, body: { metadata, status: { conditions } } };
  }
}

const POD: PendingDeletion = {
  ...{ uid: 'u', namespace: 'shop', name: 'web', decision: 1 },
  ...{ reason: 'TerminationByKubelet', message: 'evicting', graceSeconds: 1, next: 'condition' },
};

/** What survives kill -9. */
class Disk {
  before: unknown;
  readonly log: string[] = [];
  /** The decisions before which the kubelet had started the pod again. */
  readonly restarts: number[] = [];

  open(server: Pick<Server, 'ask'>, inFlight: readonly number[] = [1], pauseMs: (failures: number) => number = () => 1): DeletionQueue {
    const log = { info: (line: string) => this.log.push(line), warn: (line: string) => this.log.push(line) };
    let isOpen = true;
    const keep = (value: unknown): void => {
      if (isOpen) this.before = value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
    };
    const onRestart = ({ decision }: EndedPod): number => this.restarts.push(decision);
    const section = { before: (this.before ?? []) as PendingDeletions, keep };
    const queue = new DeletionQueue({ ask: server.ask, section, log, onRestart, pauseMs }, new Set(inFlight));
    const close = queue.close.bind(queue);
    queue.close = (): void => {
      isOpen = false;
      close();
    };
    return queue;
  }
}

test('a call without an answer counts for all pods that wait, and an answered one only for its own pod', async () => {
  const disk = new Disk();
  const limit: (() => void)[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const ask: Ask = async ({ beforeSend }) => {
    await new Promise<void>((resolve) => limit.push(resolve));
    beforeSend?.();
    const error = await new Promise<Error | undefined>((resolve) => answers.push(resolve));
    if (error) throw error;
    return { status: 200, body: undefined };
  };
  const queue = disk.open({ ask }, [], () => 3_600_000);
  for (const uid of ['a', 'b']) queue.add({ ...POD, uid, name: uid });
  queue.release(1);
  queue.send();
  const sent = (): boolean[] => ['a', 'b'].map((uid) => queue.sent.sinceNs(uid) !== undefined);
  expect(sent()).toEqual([false, false]);
  limit.shift()?.();
  await eventually('the condition of a is sent', () => answers.length > 0);
  expect(sent()).toEqual([true, true]);
  answers.shift()?.();
  await eventually('DELETE of a waits for the rate limit', () => limit.length > 0);
  expect(sent()).toEqual([true, false]);
  limit.shift()?.();
  await eventually('DELETE of a is sent', () => answers.length > 0);
  answers.shift()?.(new Error('no answer in time'));
  await eventually('the round is over', () => disk.log.length > 0);
  expect(sent()).toEqual([true, true]);
  queue.close();
});

test('the condition is sent first, then DELETE, and the queue is empty after the outcome', async () => {
  const [server, disk] = [new Server(), new Disk()];
  const queue = disk.open(server);
  queue.add(POD);
  queue.send();
  expect(disk.before).toEqual([POD]);
  queue.release(1);
  queue.send();
  await eventually('it is sent', () => queue.size === 0);
  expect(server).toMatchObject({ calls: ['PATCH', 'DELETE'], hasCondition: true, graceSeconds: 1 });
  queue.concluded(1, true);
  expect(disk.before).toBeUndefined();
});

/** kill -9 when the call with this number is on its way, or was carried out and is not answered yet. */
test.each([
  [0, 'before', ['GET', 'PATCH', 'DELETE']],
  [0, 'after', ['PATCH', 'GET', 'DELETE']],
  [1, 'before', ['PATCH', 'GET', 'DELETE']],
  [1, 'after', ['PATCH', 'DELETE', 'GET']],
] as const)('after kill -9 at call %i, %s its effect, no call is repeated or forgotten', async (at, when, calls) => {
  const [server, disk] = [new Server(), new Disk()];
  const first = disk.open(server);
  let seen = 0;
  server.onCall = (now) => {
    if (now === when && seen === at) {
      server.onCall = () => undefined;
      first.close();
      if (when === 'before') server.answers = ['none', undefined];
      server.answers.shift();
      if (when === 'before') throw new Error('killed');
    }
    if (now === 'after') seen += 1;
  };
  first.add(POD);
  first.release(1);
  first.send();
  await eventually('it is killed', () => server.calls.length >= (when === 'before' ? at : at + 1));
  await new Promise((resolve) => setImmediate(resolve));
  const second = disk.open(server);
  second.add(POD); // the eviction is still in flight
  second.release(1);
  second.send();
  await eventually('it is sent', () => second.size === 0);
  expect(server.calls).toEqual(calls);
  expect(server).toMatchObject({ hasCondition: true, graceSeconds: 1 });
});

test('a call without an answer is made again, after the pod was read', async () => {
  const [server, disk] = [new Server(), new Disk()];
  server.answers = ['none', 503, 'none', undefined, 500, undefined, 502, undefined];
  const queue = disk.open(server);
  queue.add(POD);
  queue.release(1);
  queue.send();
  await eventually('it is sent', () => queue.size === 0);
  expect(server.calls).toEqual(['GET', 'GET', 'GET', 'PATCH', 'DELETE']);
  expect(disk.log.filter((line) => line.startsWith('evicted pods that cannot be deleted'))).toHaveLength(1);
});

/** A server whose pods have their name as uid, and are not deleted. */
const podServer: Ask = ({ path }) => Promise.resolve({ status: 200, body: { metadata: { uid: path.split('/')[6] } } });

/** A server that may answer calls for /web otherwise (undefined: it does not), and a queue. `calls`: the requests, in order. */
function mixed(refused: (method: string) => number | undefined, names: readonly string[], pauseMs = 1, log: string[] = []) {
  const calls: string[] = [];
  const ask: Ask = async ({ method, path, body }) => {
    calls.push(`${method} ${path.split('/')[6] ?? ''}`);
    const status = path.includes('/web') ? refused(method) : undefined;
    return status === undefined ? podServer({ method, path, body, withinMs: 1 }) : Promise.resolve({ status, body: undefined });
  };
  const parts = {
    ask,
    section: { before: [], keep: () => undefined },
    log: { info: () => 0, warn: (line: string) => log.push(line) },
    onRestart: () => undefined,
    pauseMs: () => pauseMs,
  };
  const queue = new DeletionQueue(parts, new Set([1]));
  onTestFinished(() => {
    queue.close();
  });
  const add = (name: string): void => {
    queue.add({ ...POD, uid: name, name });
    queue.release(1);
    queue.send();
  };
  names.forEach(add);
  return { calls, queue, add };
}

test.each([403, 422])('a pod whose DELETE is answered by %i does not delay the others', async (status) => {
  const { queue } = mixed(() => status, ['web', 'other'], status === 403 ? 1 : 3_600_000);
  await eventually('the other is sent', () => queue.stateOf('other') === 'done');
  expect([queue.stateOf('web'), queue.size]).toEqual(['delete', 1]);
});

test('a pod that cannot be deleted is read before the next attempt, and may be gone by then', async () => {
  const names = ['web', 'web-2', 'web-3'];
  let isGone = false;
  const { calls, queue } = mixed((method) => (isGone && method === 'GET' ? 404 : 403), names);
  await eventually('there were some rounds', () => calls.length >= 9);
  expect(calls.slice(0, 9)).toEqual([
    ...names.flatMap((name) => [`PATCH ${name}`, `DELETE ${name}`]),
    ...['GET web', 'DELETE web', 'GET web-2'],
  ]);
  isGone = true;
  await eventually('no deletion is pending', () => queue.size === 0);
});

test('a pod whose DELETE is refused repeatedly is dropped in the end, but not one whose server is away', async () => {
  const log: string[] = [];
  const { calls, queue } = mixed((method) => (method === 'DELETE' ? 403 : 200), ['web'], 0, log);
  await eventually('it is dropped', () => queue.size === 0);
  expect(calls.filter((call) => call.startsWith('DELETE'))).toHaveLength(120);
  expect(log).toContainEqual(
    expect.stringMatching(/^the API server has refused 120 times to delete evicted pod shop\/web, and evictd gives up/),
  );
  const away = mixed((method) => (method === 'DELETE' ? 503 : 200), ['web'], 0);
  await eventually('there were more rounds', () => away.calls.length > 200);
  expect(away.queue.size).toBe(1);
});

test.each<[rule: string, status: number, first: string[], later: string[]]>([
  ['a server that is away ends the round, and the next one begins with the oldest pod', 429, ['PATCH web'], ['PATCH web']],
  [
    'a missing permission ends the round, and the next one begins with the next pod',
    403,
    ['PATCH web', 'DELETE web'],
    [...['PATCH other', 'DELETE other', 'PATCH late', 'DELETE late'], ...['GET web', 'DELETE web']],
  ],
])('%s; during the wait only a new pod starts a round', async (_rule, status, first, later) => {
  const { calls, queue, add } = mixed(() => status, ['web', 'other'], 3_600_000);
  await eventually('it has failed', () => calls.length === first.length);
  await new Promise((resolve) => setImmediate(resolve));
  queue.send();
  expect(calls).toEqual(first);
  add('late');
  await eventually('there was a round', () => calls.length === first.length + later.length);
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls.slice(first.length)).toEqual(later);
});

test.each(['PATCH', 'DELETE'])('a pod whose %s fails alone with 500 does not delay other pods, and is never given up', async (failing) => {
  const { calls, queue } = mixed((method) => (method === failing ? 500 : undefined), ['web', 'other'], 0);
  await eventually('the other is sent', () => queue.stateOf('other') === 'done');
  if (failing === 'DELETE') await eventually('there were more rounds', () => calls.length > 400);
  else await eventually('web is sent as well', () => queue.size === 0);
  expect(queue.stateOf('web')).toBe(failing === 'DELETE' ? 'delete' : 'done');
  // the first one ends its round, because a server that is away would answer the same
  const patches = calls.filter((call) => call === 'PATCH web');
  expect(patches).toHaveLength(failing === 'PATCH' ? 4 : 1);
});

test('the oldest pods, whose reading fails with 500, do not delay others, and are deleted when the reading succeeds', async () => {
  const bad = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5'];
  let isBroken = true;
  const { calls, queue } = mixed(() => (isBroken ? 500 : undefined), [...bad, 'a', 'b', 'c'], 0);
  await eventually('the others are sent', () => ['a', 'b', 'c'].every((name) => queue.stateOf(name) === 'done'));
  expect(queue.size).toBe(5);
  const others = calls.filter((call) => !call.includes('web'));
  expect(others).toEqual(['a', 'b', 'c'].flatMap((name) => [`PATCH ${name}`, `DELETE ${name}`]));
  isBroken = false;
  await eventually('no deletion is pending', () => queue.size === 0);
});

test('pods whose calls get no answer, because a webhook hangs, do not delay others', async () => {
  const calls: string[] = [];
  const ask: Ask = (call) => {
    const name = call.path.split('/')[6] ?? '';
    calls.push(`${call.method} ${name}`);
    return name.startsWith('web') ? Promise.reject(new Error('no answer in time')) : podServer(call);
  };
  const queue = new Disk().open({ ask }, []);
  onTestFinished(() => {
    queue.close();
  });
  const names = ['web-1', 'web-2', 'a', 'web-3', 'b'];
  for (const name of names) queue.add({ ...POD, uid: name, name });
  queue.release(1);
  queue.send();
  await eventually('the others are sent', () => queue.stateOf('b') === 'done');
  expect(calls.slice(0, 3)).toEqual(['PATCH web-1', 'PATCH web-2', 'PATCH a']);
  expect([queue.stateOf('a'), queue.size]).toEqual(['done', 3]);
});

test('a pod whose reading fails does not end the round', async () => {
  const { calls, queue } = mixed(() => 500, [], 3_600_000);
  queue.add({ ...POD, uid: 'web', name: 'web' }, true);
  for (const name of ['a', 'b']) queue.add({ ...POD, uid: name, name });
  queue.release(1);
  queue.send();
  await eventually('the others are sent', () => queue.stateOf('b') === 'done');
  expect(calls).toEqual(['GET web', 'PATCH a', 'DELETE a', 'PATCH b', 'DELETE b']);
});

test('a server that is known to be back ends the wait', async () => {
  let isBack = false;
  const { calls, queue } = mixed(() => (isBack ? undefined : 503), ['web'], 3_600_000);
  await eventually('it has failed', () => calls.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  isBack = true;
  queue.serverIsBack();
  await eventually('it is sent', () => queue.size === 0);
});

test('an answer that cannot be read is a failure, and the call is made again', async () => {
  const [server, disk] = [new Server(), new Disk()];
  const { ask } = server;
  let isOdd = true;
  const odd = {
    status: 200,
    get body(): unknown {
      throw new TypeError('body is no object');
    },
  };
  const asked: Ask = async (call) => {
    if (!isOdd || call.method !== 'GET') return ask(call);
    isOdd = false;
    return Promise.resolve(odd);
  };
  Object.assign(server, { ask: asked });
  const next = disk.open(server);
  next.add(POD, true);
  next.release(1);
  next.send();
  await eventually('it is sent', () => next.size === 0);
  expect(disk.log).toContainEqual(expect.stringContaining('body is no object'));
});

test('an evictd that starts after the outcome makes the remaining calls, and forgets deleted pods', async () => {
  const [server, disk] = [new Server(), new Disk()];
  disk.before = [
    { ...POD, next: 'delete' },
    { ...POD, uid: 'v', next: 'done' },
  ];
  const queue = disk.open(server, []);
  expect(queue.stateOf('v')).toBeUndefined();
  server.hasCondition = true;
  queue.send();
  await eventually('it is sent', () => queue.size === 0);
  expect(server.calls).toEqual(['GET', 'DELETE']);
  expect(disk.before).toBeUndefined();
});

test('after a kill between the last answer and the outcome the next evictd repeats no call', () => {
  const [server, disk] = [new Server(), new Disk()];
  disk.before = [{ ...POD, next: 'done' }];
  const queue = disk.open(server);
  queue.add(POD);
  expect(queue.size).toBe(0);
  queue.concluded(1, true);
  expect(disk.before).toBeUndefined();
});

test('for a pod that the kubelet has started again all calls are repeated, which is logged', () => {
  const [server, disk] = [new Server(), new Disk()];
  const queue = disk.open(server);
  queue.add(POD);
  queue.release(1);
  queue.add({ ...POD, decision: 2 });
  expect(disk.before).toEqual([{ ...POD, decision: 2 }]);
  expect(disk.log).toEqual(['the kubelet has started shop/web again since its eviction (decision 1)']);
  expect(disk.restarts).toEqual([1]);
});

/** The status of a container at a time relative to the signal. */
const containerAt = (seconds: number, state: 'running' | 'terminated' = 'running') => ({
  [state]: { startedAt: new Date((Math.floor(Date.now() / 1_000) + seconds) * 1_000).toISOString().replace('.000', '') },
});
const seenPod = (status: object, uid = 'u') => ({ metadata: { uid, name: 'web' }, status }) as unknown as Json;

test.each<[rule: string, pod: () => Json, isRestarted: boolean]>([
  ['whose containers run since before', () => seenPod({ containerStatuses: [{ state: containerAt(-60) }] }), false],
  ['whose containers have ended', () => seenPod({ containerStatuses: [{ state: containerAt(-60, 'terminated') }] }), false],
  ['without a status', () => seenPod({}), false],
  ['of another uid', () => seenPod({ containerStatuses: [{ state: containerAt(5) }] }, 'v'), false],
  [
    'with a container that was started since',
    () => seenPod({ containerStatuses: [{ state: containerAt(-60) }, { state: containerAt(5) }] }),
    true,
  ],
  ['whose init container was started since', () => seenPod({ initContainerStatuses: [{ state: containerAt(5, 'terminated') }] }), true],
  [
    'whose container waits after another end',
    () => seenPod({ containerStatuses: [{ state: { waiting: {} }, lastState: containerAt(5, 'terminated') }] }),
    true,
  ],
])('an evicted pod %s is judged whether the kubelet has started it again: %#', (_rule, pod, isRestarted) => {
  const [server, disk] = [new Server(), new Disk()];
  const queue = disk.open(server);
  queue.add(POD);
  queue.ended.seen(seenPod({ containerStatuses: [{ state: containerAt(5) }] })); // no signal has reached it
  queue.release(1);
  queue.ended.listed([seenPod({}), pod()]);
  queue.ended.seen(pod());
  expect(disk.restarts).toEqual(isRestarted ? [1] : []);
  queue.release(1); // the next step
  const next = disk.open(server, []); // and after kill -9
  next.ended.removed(pod());
  expect(disk.restarts).toEqual(isRestarted ? [1] : []);
  expect(disk.log).toEqual(isRestarted ? ['the kubelet has started shop/web again since its eviction (decision 1)'] : []);
});

test('a restart that is reported after the deletion, or to the next evictd, is detected, but not that of a deleted pod', async () => {
  const [server, disk] = [new Server(), new Disk()];
  const restarted = () => seenPod({ containerStatuses: [{ state: containerAt(5) }] });
  const queue = disk.open(server);
  queue.add(POD);
  queue.release(1);
  const killed = disk.open(server, []);
  killed.ended.removed(restarted());
  expect(disk.restarts).toEqual([1]);
  queue.send();
  await eventually('it is deleted', () => queue.size === 0);
  queue.concluded(1, true);
  queue.ended.seen(restarted());
  expect(disk.restarts).toEqual([1, 1]);
  for (const forget of [(of: typeof queue) => of.ended.listed([]), (of: typeof queue) => of.ended.removed(seenPod({}))]) {
    const other = new Disk();
    const gone = other.open(server);
    gone.add(POD);
    gone.release(1);
    forget(gone);
    gone.ended.seen(restarted());
    expect(other.restarts).toEqual([]);
  }
});

test.each(['none', 408, 429, 500, 502, 503, 504] as const)(
  'after an hour of the answer %s no deletion or condition is given up, and all are sent in order when the server is back',
  async (answer) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const calls: string[] = [];
    let isBack = false;
    const ask: Ask = async (call) => {
      calls.push(`${call.method} ${call.path.split('/')[6] ?? ''}`);
      if (isBack) return podServer(call);
      return answer === 'none' ? Promise.reject(new Error('connect ECONNREFUSED')) : { status: answer, body: undefined };
    };
    const [disk, names] = [new Disk(), Array.from({ length: 60 }, (_, at) => `web-${String(at)}`)];
    const queue = disk.open({ ask }, [], (failures) => backOffMs(failures, 0.5));
    for (const name of names) {
      queue.add({ ...POD, uid: name, name });
      queue.release(1);
      queue.send();
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(queue.size).toBe(60);
    expect(calls.length).toBeLessThan(500); // two requests an attempt, and at most 30 s between two
    expect(disk.log).toHaveLength(1);
    calls.length = 0;
    isBack = true;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(queue.size).toBe(0);
    expect(calls.filter((call) => !call.startsWith('GET'))).toEqual(names.flatMap((name) => [`PATCH ${name}`, `DELETE ${name}`]));
  },
);
