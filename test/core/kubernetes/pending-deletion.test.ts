import { describe, expect, test } from 'vitest';
import { evictionAnswer, deletionAnswer, type ApiAnswer } from '../../../src/core/kubernetes/eviction-answer.js';
import {
  answered,
  concluded,
  addDeletion,
  ofSavedForm,
  savedForm,
  stillPending,
  unfinished,
  type PendingDeletions,
  type PendingDeletion,
} from '../../../src/core/kubernetes/pending-deletion.js';
import { podNow } from '../../../src/core/kubernetes/pod-call.js';
import { violatedBudgets } from '../../../src/core/kubernetes/violated-budgets.js';

const pod = (overrides: Partial<PendingDeletion> = {}): PendingDeletion => ({
  ...{
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    decision: 1,
    reason: 'TerminationByKubelet',
    message: 'evicting',
    graceSeconds: 1,
    next: 'condition',
  },
  ...overrides,
});

const USUAL = { namespace: 'n'.repeat(24), name: 'p'.repeat(63), graceSeconds: 86_400, reason: 'TerminationByKubelet' };
const LONGEST = { namespace: 'n'.repeat(63), name: 'p'.repeat(253) };

/** Fails where it is full. */
const pendingOf = (...pods: PendingDeletion[]): PendingDeletions =>
  pods.reduce<PendingDeletions>((pending, one) => addDeletion(pending, one) ?? [], []);

describe('pending deletions', () => {
  test('the condition comes before the DELETE, and a deleted pod stays until the outcome is recorded', () => {
    const halfway = answered(pendingOf(pod()), pod(), 'done');
    expect(halfway).toEqual([pod({ next: 'delete' })]);
    const done = answered(halfway, pod({ next: 'delete' }), 'done');
    expect(done).toEqual([pod({ next: 'done' })]);
    expect(unfinished(done)).toEqual([]);
    expect(addDeletion(done, pod())).toBe(done);
    expect(concluded(done, 1, true)).toEqual([]);
  });

  test('after an outcome before the answer the remaining requests are sent, and then the deletion is forgotten', () => {
    const over = concluded(pendingOf(pod()), 1, true);
    expect(unfinished(over)).toEqual([pod({ isOver: true })]);
    const halfway = answered(over, pod(), 'done');
    expect(answered(halfway, pod({ next: 'delete' }), 'done')).toEqual([]);
  });

  test.each<[rule: string, before: PendingDeletions, more: PendingDeletion, after: PendingDeletions]>([
    ['the same eviction has one deletion', pendingOf(pod()), pod(), [pod()]],
    ['a smaller grace period before its DELETE', [pod({ graceSeconds: 30, next: 'delete' })], pod(), [pod({ next: 'delete' })]],
    ['a smaller grace period later causes one more DELETE', [pod({ graceSeconds: 30, next: 'done' })], pod(), [pod({ next: 'delete' })]],
    ['a larger grace period later changes nothing', [pod({ next: 'done' })], pod({ graceSeconds: 30 }), [pod({ next: 'done' })]],
    [
      'the kubelet has started it again: everything anew, and not over',
      [pod({ next: 'done', isOver: true })],
      pod({ decision: 2 }),
      [pod({ decision: 2 })],
    ],
    ['a new eviction has no signal yet', [pod({ isSignalled: true, ended: 5 })], pod({ decision: 2 }), [pod({ decision: 2 })]],
    ['the same name with another uid is another pod', pendingOf(pod()), pod({ uid: 'v' }), [pod(), pod({ uid: 'v' })]],
  ])('%s', (_rule, before, more, after) => {
    expect(addDeletion(before, more)).toEqual(after);
  });

  test('the answer to a DELETE does not settle a grace period that became shorter meanwhile', () => {
    const sent = pod({ graceSeconds: 30, next: 'delete' });
    const shorter = pendingOf(sent, pod());
    expect(answered(shorter, sent, 'done')).toEqual([pod({ next: 'delete' })]);
    expect(answered(shorter, sent, 'gone')).toEqual([pod({ next: 'done' })]);
  });

  test('an eviction that ended no process has no deletion, and other pods stay', () => {
    expect(concluded(pendingOf(pod(), pod({ uid: 'v', decision: 2 })), 1, false)).toEqual([pod({ uid: 'v', decision: 2 })]);
  });

  test.each<[rule: string, more: Partial<PendingDeletion>, holds: [least: number, most: number]]>([
    ['short names', { namespace: 'a', name: 'b' }, [256, 256]],
    ['names as usual, and the longest messages', { ...USUAL, message: 'x'.repeat(999) }, [256, 256]],
    ['names as usual, and messages with characters of several bytes', { ...USUAL, message: '\u{1f600}'.repeat(999) }, [256, 256]],
    ['the longest names', { ...LONGEST, message: 'x'.repeat(999) }, [110, 130]],
    ['names as usual, and escaped characters', { ...USUAL, message: '\u0001'.repeat(999) }, [256, 256]],
  ])('the queue is bounded, so that the rest of the state can be saved with it: %s', (_rule, more, [least, most]) => {
    let pending: PendingDeletions = [];
    for (let at = 0; at <= 256; at += 1)
      pending = addDeletion(pending, pod({ ...more, uid: String(at).padStart(36, '0'), decision: at })) ?? pending;
    expect(pending.length).toBeGreaterThanOrEqual(least);
    expect(pending.length).toBeLessThanOrEqual(most);
    expect(addDeletion(pending, pod({ ...more, uid: 'one more'.padEnd(36), decision: 999 }))).toBeUndefined();
    const done = pending.map((one): PendingDeletion => ({ ...one, next: 'done', isSignalled: true, ended: 9e12, isOver: true }));
    expect(Buffer.byteLength(JSON.stringify(done.map(savedForm)))).toBeLessThanOrEqual(48 * 1024);
  });
});

test('messages are dropped before a pod is refused, and kept as long as there is room', () => {
  const message = 'x'.repeat(160);
  const all = Array.from({ length: 256 }, (_, at) => pod({ ...USUAL, message, uid: String(at).padStart(36, '0'), decision: at }));
  const pending = pendingOf(...all);
  expect(pending.map((one) => ({ ...one, message }))).toEqual(all);
  expect(pending[0]?.message).toBe('');
  const some = all.slice(0, 100);
  expect(pendingOf(...some)).toEqual(some);
});

test.each<[Partial<PendingDeletion>]>([
  [{}],
  [{ next: 'delete', isSignalled: true, ended: 5 }],
  [{ next: 'done', ended: 'restarted', isOver: true }],
  [{ isSignalled: true, isOver: true, reason: 'DeletionByTaintManager', message: '', graceSeconds: 30 }],
])('a deletion is saved in a short form and read again: %j', (more) => {
  expect(ofSavedForm(JSON.parse(JSON.stringify(savedForm(pod(more)))) as ReturnType<typeof savedForm>)).toEqual(pod(more));
});

test.each<[rule: string, uid: string, graceSeconds: number | undefined, hasCondition: boolean, next: PendingDeletion['next']]>([
  ['the pod is unchanged', 'u', undefined, false, 'condition'],
  ['the pod has the condition', 'u', undefined, true, 'delete'],
  ['the pod is being deleted with a longer grace period', 'u', 30, false, 'delete'],
  ['the pod is being deleted with the same grace period', 'u', 1, false, 'done'],
  ['another pod has the same name', 'v', undefined, false, 'done'],
])('a pod that may have received an earlier request: %s', (_rule, uid, graceSeconds, hasCondition, next) => {
  expect(stillPending(pod(), { uid, graceSeconds, hasCondition }).next).toBe(next);
});

test.each([
  ['condition', 200, 'done'],
  ['condition', 404, 'gone'],
  ['condition', 409, 'failed'],
  ['condition', 422, 'done'], // a wrong uid: the DELETE finds that out
  ['condition', 403, 'done'],
  ['delete', 200, 'done'],
  ['delete', 202, 'done'],
  ['delete', 404, 'gone'],
  ['delete', 409, 'failed'],
  ['delete', 403, 'failed'],
  ['delete', 422, 'failed'],
  ...[302, 401, 408, 429, 500, 502, 503, 504].flatMap((status) => [
    ['condition', status, 'away'] as const,
    ['delete', status, 'away'] as const,
  ]),
] as const)('%s answered by %i: %s', (call, status, result) => {
  expect(deletionAnswer(call, { status, body: undefined })).toBe(result);
});

/** A Status of the API server. */
const said = (message: string): ApiAnswer['body'] => ({ kind: 'Status', message });
const OF_WEBHOOK = said('pods "web" is forbidden: admission webhook "drain.example" denied the request: it is moved first');
const OF_POLICY = said(`pods "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: it is moved first`);
const CONFLICT = 'Operation cannot be fulfilled on';
// As pkg/registry/core/pod/storage/eviction.go and apiserver/pkg/storage/interfaces.go say it (v1.36.2).
const OTHER_UID = [
  `${CONFLICT} pods "web": Precondition failed: UID in precondition: u, UID in object meta: v`,
  `${CONFLICT} Pod "web": the UID in the precondition (u) does not match the UID in record (v). The object might have been deleted`,
].map(said);
const CHANGED = [
  `${CONFLICT} poddisruptionbudgets.policy "b": the object has been modified; please apply your changes to the latest version`,
  `${CONFLICT} pods "web": Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: 2`,
].map(said);

test.each<[rule: string, status: number, bodies: readonly ApiAnswer['body'][], condition: string, deletion: string, eviction: string]>([
  ['a denial, with any code', 429, [OF_WEBHOOK, OF_POLICY], 'done', 'failed', 'refused'],
  ['a denial, with any code', 500, [OF_WEBHOOK, OF_POLICY], 'done', 'failed', 'refused'],
  ['a denial, with any code', 404, [OF_WEBHOOK], 'gone', 'gone', 'refused'],
  ['a denial, with any code', 409, [OF_WEBHOOK], 'failed', 'failed', 'refused'],
  ['a denial, with any code', 401, [OF_POLICY], 'done', 'failed', 'refused'],
  ['a webhook that cannot be called', 500, [said('failed calling webhook "drain.example": EOF')], 'away', 'away', 'unanswered'],
  ['a page of a proxy that says the same', 502, ['admission webhook "a" denied the request'], 'away', 'away', 'unanswered'],
  ['another uid', 409, OTHER_UID, 'failed', 'gone', 'gone'],
  ['an object that was changed meanwhile', 409, CHANGED, 'failed', 'failed', 'busy'],
])('%s (%i)', (_rule, status, bodies, condition, deletion, eviction) => {
  for (const body of bodies) {
    const answer = { status, body };
    expect([deletionAnswer('condition', answer), deletionAnswer('delete', answer), evictionAnswer(answer).kind]).toEqual([
      condition,
      deletion,
      eviction,
    ]);
  }
});

const causes = [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1 currently' }];

test.each<[rule: string, status: number, body: ApiAnswer['body'], kind: string]>([
  ['created', 201, {}, 'accepted'],
  ['the pod does not exist', 404, {}, 'gone'],
  ['a budget', 429, { message: 'Cannot evict pod', details: { causes } }, 'budget'],
  ['an overloaded server', 429, { message: 'Too many requests' }, 'busy'],
  ['API Priority and Fairness', 429, 'Too many requests, please try again later.', 'busy'],
  ['several budgets', 500, { message: 'This pod has more than one PodDisruptionBudget' }, 'several-budgets'],
  ['a failure of the server', 500, { message: 'etcdserver: request timed out' }, 'unanswered'],
  ['an expired token', 401, undefined, 'unanswered'],
  ['evictd has no permission', 403, {}, 'refused'],
  ['a proxy without a server', 502, 'Bad Gateway', 'unanswered'],
])('an eviction answered by %s', (_rule, status, body, kind) => {
  expect(evictionAnswer({ status, body }).kind).toBe(kind);
});

const expression = (operator: string, values?: string[]) => ({ matchExpressions: [{ key: 'app', operator, ...(values && { values }) }] });

test.each<[rule: string, selector: object | undefined, isViolated: boolean]>([
  ['no selector', undefined, false],
  ['an empty selector', {}, true],
  ['a label of the pod', { matchLabels: { app: 'web' } }, true],
  ['another label', { matchLabels: { app: 'web', tier: 'a' } }, false],
  ['In', expression('In', ['x', 'web']), true],
  ['In with another value', expression('In', ['x']), false],
  ['NotIn', expression('NotIn', ['web']), false],
  ['NotIn of another', expression('NotIn', ['x']), true],
  ['Exists', expression('Exists'), true],
  ['DoesNotExist', expression('DoesNotExist'), false],
  ['an operator that is not known', expression('Gt', ['1']), false],
])('a budget with %s', (_rule, selector, isViolated) => {
  const items = [0, 1].map((disruptionsAllowed) => ({
    ...{ metadata: { namespace: 'shop', name: `allows-${String(disruptionsAllowed)}` }, spec: { ...(selector && { selector }) } },
    status: { disruptionsAllowed },
  }));
  expect(violatedBudgets({ items }, { app: 'web' })).toEqual(isViolated ? ['shop/allows-0'] : []);
});

test.each([
  null,
  'x',
  4,
  {},
  { items: null },
  { items: {} },
  { items: [null, 4, {}, { spec: null, status: null }, { spec: { selector: null } }] },
])('an invalid list of budgets has no violated budget: %j', (list) => {
  expect(violatedBudgets(list, { app: 'web' })).toEqual([]);
});

test('an invalid selector is read as far as possible, and one that cannot be read selects nothing', () => {
  const selectors = [{ matchLabels: null, matchExpressions: null }, { matchExpressions: [null] }, expression('NotIn'), expression('In')];
  const items = selectors.map((selector, at) => ({ metadata: { namespace: 'shop', name: String(at) }, spec: { selector } }));
  expect(violatedBudgets({ items }, { app: 'web' })).toEqual(['shop/0', 'shop/1']);
});

test.each([
  null,
  'x',
  {},
  { status: null },
  { status: { conditions: null } },
  { status: { conditions: 'x' } },
  { status: { conditions: [null] } },
])('an invalid pod has no condition: %j', (body) => {
  expect(podNow(body)).toBeUndefined();
  const metadata = { uid: 'u' };
  expect(podNow({ ...(typeof body === 'object' && body), metadata })).toEqual({ uid: 'u', graceSeconds: undefined, hasCondition: false });
});
