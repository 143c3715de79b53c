import { describe, expect, test } from 'vitest';
import { evictionAnswer, owedAnswer, type ApiAnswer } from '../../../src/core/kubernetes/eviction-answer.js';
import {
  answered,
  concluded,
  owe,
  owedOf,
  retryMs,
  stillOwed,
  unsettled,
  type Owed,
  type OwedPod,
} from '../../../src/core/kubernetes/owed-call.js';
import { podNow } from '../../../src/core/kubernetes/pod-call.js';
import { violatedBudgets } from '../../../src/core/kubernetes/violated-budgets.js';

const pod = (overrides: Partial<OwedPod> = {}): OwedPod => ({
  ...{
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    decision: 1,
    reason: 'TerminationByKubelet',
    message: 'evicting',
    graceSeconds: 1,
    next: 'mark',
  },
  ...overrides,
});

const LONGEST = { namespace: 'n'.repeat(63), name: 'p'.repeat(253) };

/** Fails where it is full. */
const owing = (...pods: OwedPod[]): Owed => pods.reduce<Owed>((owed, one) => owe(owed, one) ?? [], []);

describe('the queue of owed calls', () => {
  test('the condition comes before the DELETE, and a settled pod stays until the outcome is recorded', () => {
    const marked = answered(owing(pod()), pod(), 'done');
    expect(marked).toEqual([pod({ next: 'delete' })]);
    const settled = answered(marked, pod({ next: 'delete' }), 'done');
    expect(settled).toEqual([pod({ next: 'settled' })]);
    expect(unsettled(settled)).toEqual([]);
    expect(owe(settled, pod())).toBe(settled);
    expect(concluded(settled, 1, true)).toEqual([]);
  });

  test('an outcome before the answer: the rest is still sent, and then forgotten', () => {
    const over = concluded(owing(pod()), 1, true);
    expect(unsettled(over)).toEqual([pod({ isOver: true })]);
    const marked = answered(over, pod(), 'done');
    expect(answered(marked, pod({ next: 'delete' }), 'done')).toEqual([]);
  });

  test.each<[rule: string, before: Owed, more: OwedPod, after: Owed]>([
    ['the same eviction is owed once', owing(pod()), pod(), [pod()]],
    ['a smaller grace period before its DELETE', [pod({ graceSeconds: 30, next: 'delete' })], pod(), [pod({ next: 'delete' })]],
    ['a smaller grace period after it: one more DELETE', [pod({ graceSeconds: 30, next: 'settled' })], pod(), [pod({ next: 'delete' })]],
    ['a larger one changes nothing', [pod({ next: 'settled' })], pod({ graceSeconds: 30 }), [pod({ next: 'settled' })]],
    [
      'the kubelet has started it again: everything anew, and not over',
      [pod({ next: 'settled', isOver: true })],
      pod({ decision: 2 }),
      [pod({ decision: 2 })],
    ],
    ['the same name with another uid is another pod', owing(pod()), pod({ uid: 'v' }), [pod(), pod({ uid: 'v' })]],
  ])('%s', (_rule, before, more, after) => {
    expect(owe(before, more)).toEqual(after);
  });

  test('the answer to a DELETE does not settle a grace period that became shorter meanwhile', () => {
    const sent = pod({ graceSeconds: 30, next: 'delete' });
    const shorter = owing(sent, pod());
    expect(answered(shorter, sent, 'done')).toEqual([pod({ next: 'delete' })]);
    expect(answered(shorter, sent, 'gone')).toEqual([pod({ next: 'settled' })]);
  });

  test('for an eviction that ended nothing no call is owed; other pods stay', () => {
    expect(concluded(owing(pod(), pod({ uid: 'v', decision: 2 })), 1, false)).toEqual([pod({ uid: 'v', decision: 2 })]);
  });

  test.each<[rule: string, more: Partial<OwedPod>, holds: [least: number, most: number]]>([
    ['short names', { namespace: 'a', name: 'b' }, [256, 256]],
    ['the longest names', { ...LONGEST, message: 'x'.repeat(999) }, [64, 90]],
    ['characters of several bytes', { ...LONGEST, message: '\u{1f600}'.repeat(999) }, [48, 80]],
    ['escaped characters', { ...LONGEST, message: '\u0001'.repeat(999) }, [24, 40]],
  ])('it is bounded, so that the rest of the state can be saved with it: %s', (_rule, more, [least, most]) => {
    let owed: Owed = [];
    for (let at = 0; at <= 256; at += 1) owed = owe(owed, pod({ ...more, uid: String(at).padStart(36, '0'), decision: at })) ?? owed;
    expect(owed.length).toBeGreaterThanOrEqual(least);
    expect(owed.length).toBeLessThanOrEqual(most);
    expect(owe(owed, pod({ ...more, uid: 'one more'.padEnd(36), decision: 999 }))).toBeUndefined();
    const settled = owed.map((one): OwedPod => ({ ...one, next: 'settled', isOver: true }));
    expect(Buffer.byteLength(JSON.stringify(settled))).toBeLessThanOrEqual(48 * 1024);
  });

  test('of what was saved only entries of a queue are used', () => {
    const good = pod({ graceSeconds: 30 });
    expect(owedOf([good, null, 4, { ...good, next: 'x' }, { ...good, uid: 1 }, { ...good, graceSeconds: '1' }])).toEqual([good]);
    expect([undefined, {}, 'x'].map(owedOf)).toEqual([[], [], []]);
  });
});

test.each<[rule: string, uid: string, graceSeconds: number | undefined, isMarked: boolean, next: OwedPod['next']]>([
  ['it is as it was', 'u', undefined, false, 'mark'],
  ['it is marked', 'u', undefined, true, 'delete'],
  ['it is being deleted more slowly', 'u', 30, false, 'delete'],
  ['it is being deleted as fast', 'u', 1, false, 'settled'],
  ['another pod has its name', 'v', undefined, false, 'settled'],
])('a pod that may have been told: %s', (_rule, uid, graceSeconds, isMarked, next) => {
  expect(stillOwed(pod(), { uid, graceSeconds, isMarked }).next).toBe(next);
});

test('a failed call is made again after half a second at first, and after 30 s at most', () => {
  expect([retryMs(1, 0), retryMs(1, 1), retryMs(3, 1), retryMs(30, 0), retryMs(30, 1)]).toEqual([500, 1_000, 4_000, 15_000, 30_000]);
});

test.each([
  ['mark', 200, 'done'],
  ['mark', 404, 'gone'],
  ['mark', 409, 'failed'],
  ['mark', 422, 'done'], // a wrong uid: the DELETE finds that out
  ['mark', 403, 'done'],
  ['mark', 500, 'done'],
  ['mark', 401, 'away'],
  ['mark', 429, 'away'],
  ['delete', 200, 'done'],
  ['delete', 202, 'done'],
  ['delete', 404, 'gone'],
  ['delete', 409, 'gone'],
  ['delete', 403, 'failed'],
  ['delete', 500, 'failed'],
  ['delete', 503, 'away'],
] as const)('%s answered by %i: %s', (call, status, result) => {
  expect(owedAnswer(call, { status })).toBe(result);
});

const causes = [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1 currently' }];

test.each<[rule: string, status: number, body: ApiAnswer['body'], kind: string]>([
  ['created', 201, {}, 'accepted'],
  ['no such pod', 404, {}, 'gone'],
  ['another uid', 409, {}, 'gone'],
  ['a budget', 429, { message: 'Cannot evict pod', details: { causes } }, 'budget'],
  ['an overloaded server', 429, { message: 'Too many requests' }, 'unanswered'],
  ['several budgets', 500, { message: 'This pod has more than one PodDisruptionBudget' }, 'refused'],
  ['a failure of the server', 500, { message: 'etcdserver: request timed out' }, 'unanswered'],
  ['an expired token', 401, undefined, 'unanswered'],
  ['no permission', 403, {}, 'refused'],
  ['a proxy without a server', 502, 'Bad Gateway', 'unanswered'],
])('an eviction answered by %s', (_rule, status, body, kind) => {
  expect(evictionAnswer({ status, body }).kind).toBe(kind);
});

const expression = (operator: string, values?: string[]) => ({ matchExpressions: [{ key: 'app', operator, ...(values && { values }) }] });

test.each<[rule: string, selector: object | undefined, isViolated: boolean]>([
  ['no selector', undefined, false],
  ['an empty one', {}, true],
  ['its label', { matchLabels: { app: 'web' } }, true],
  ['another label', { matchLabels: { app: 'web', tier: 'a' } }, false],
  ['In', expression('In', ['x', 'web']), true],
  ['not In', expression('In', ['x']), false],
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
])('an odd list of budgets has none that is violated: %j', (list) => {
  expect(violatedBudgets(list, { app: 'web' })).toEqual([]);
});

test('an odd selector is read as far as it is one, and an invalid one selects nothing', () => {
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
])('an odd pod has no condition: %j', (body) => {
  expect(podNow(body)).toBeUndefined();
  const metadata = { uid: 'u' };
  expect(podNow({ ...(typeof body === 'object' && body), metadata })).toEqual({ uid: 'u', graceSeconds: undefined, isMarked: false });
});
