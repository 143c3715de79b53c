import { expect, test, vi } from 'vitest';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import type { PolicyBudget } from '../../../src/core/disruption/disruption-budget.js';
import { postCordon, postDrain } from '../../../src/features/eviction/drain-answer.js';
import { postEviction, type EvictionParts } from '../../../src/features/eviction/eviction-answer.js';
import { candidates, policy, workload } from '../../core/support.js';

const web: PolicyBudget = {
  name: 'web',
  match: { name: 'web-*' },
  limit: { of: 'minAvailable', value: 2, isPercentage: false },
  unhealthyPolicy: 'IfHealthyBudget',
  os: 'linux',
};
const ALL = candidates(
  [workload('web-1', { path: '/a/web-1' }), 1n],
  [workload('web-2', { path: '/a/web-2' }), 1n],
  [workload('db', { protection: { kind: 'critical' } }), 1n],
  [workload('twin', { path: '/a/twin' }), 1n],
  [workload('twin', { path: '/b/twin' }), 1n],
  [workload('empty'), 1n],
);

function parts(overrides: Partial<Policy> = {}, state: Partial<State> = {}) {
  const ask = vi.fn(() => true);
  const made: EvictionParts = {
    candidates: () => ({ ...ALL, veto: ({ name }) => (name === 'empty' ? { kind: 'vacant' } : undefined) }),
    standing: () => ({ policy: policy([], { disruptionBudgets: [web], ...overrides }), state: { ...initialState, ...state } }),
    monitor: { ask },
  };
  return { made, ask };
}

const eviction = (name: string, deleteOptions: object = {}): string =>
  JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions });

const ONE: Partial<Policy> = { disruptionBudgets: [{ ...web, limit: { ...web.limit, value: 1 } }] };
const TWO: Partial<Policy> = { disruptionBudgets: [web, { ...web, name: 'second' }] };
const FULL = {
  evictions: Array.from({ length: 32 }, () => ({ decision: { victim: { workload: workload('other') } } })) as unknown as State['evictions'],
};
const ASKED = { disruptions: new Map([['id-web-2', { kind: 'disruption', reason: 'eviction', message: 'x' } as const]]) };
const MANY = {
  disruptions: new Map(
    Array.from({ length: 60 }, (_, at) => [
      `${'x'.repeat(100)}-${String(at)}`,
      { kind: 'disruption', reason: 'eviction', message: 'x' } as const,
    ]),
  ),
};
const PAUSE = { pauses: new Map([['', { reason: 'test', beganBootNs: 0n, endsBootNs: 1n, atNs: 0n }]]) };

test.each<[rule: string, body: string, code: number, json: object, overrides?: Partial<Policy>, state?: Partial<State>]>([
  ['a budget permits it', eviction('web-1'), 201, { status: 'Success' }, ONE],
  [
    'the workload is named by its path',
    eviction('/a/web-1'),
    201,
    { status: 'Success', details: { name: '/a/web-1', uid: 'id-web-1' } },
    ONE,
  ],
  ['there is no budget', eviction('/b/twin'), 201, { status: 'Success' }],
  [
    'the request has the form of client-go',
    eviction('/b/twin').replace('"name"', '"creationTimestamp":null,"labels":{"a":"b"},"annotations":{"a":"b"},"name"'),
    201,
    { status: 'Success' },
  ],
  [
    'a budget does not permit it',
    eviction('web-1'),
    429,
    {
      reason: 'TooManyRequests',
      details: {
        causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 2 healthy pods and has 2 currently' }],
        retryAfterSeconds: 5,
      },
    },
  ],
  [
    'there are two budgets',
    eviction('web-1'),
    500,
    { message: expect.stringContaining('more than one PodDisruptionBudget') as unknown },
    TWO,
  ],
  ['the path has another workload now', eviction('web-1', { preconditions: { uid: 'x' } }), 409, { reason: 'Conflict' }, ONE],
  [
    'as many workloads end as may end at once',
    eviction('/b/twin'),
    429,
    { reason: 'TooManyRequests', message: 'evictd ends 32 workloads already' },
    {},
    FULL,
  ],
  ['too many evictions wait', eviction('/b/twin'), 429, { message: '60 requested evictions are already waiting' }, {}, MANY],
  [
    'the last eviction of the workload is requested, and systemd has not answered yet',
    eviction('web-1'),
    429,
    { reason: 'TooManyRequests' },
    ONE,
    ASKED,
  ],
  ['protected', eviction('db'), 403, { reason: 'Forbidden', message: 'workloads "db" is forbidden: critical' }],
  ['all evictions are paused', eviction('/b/twin'), 403, { reason: 'Forbidden' }, {}, PAUSE],
  ['no workload can be evicted', eviction('/b/twin'), 403, { reason: 'Forbidden' }, { hasWorkloadSource: false }],
  ['unknown', eviction('nginx'), 404, { reason: 'NotFound', message: 'workloads "nginx" not found' }],
  ['a workload without processes', eviction('empty'), 404, { reason: 'NotFound' }],
  ['several of this name', eviction('twin'), 400, { message: expect.stringContaining('/a/twin, /b/twin') as unknown }],
  ['a body that is not JSON', '', 400, { reason: 'BadRequest' }],
  ['a grace period below 0', eviction('web-1', { gracePeriodSeconds: -1 }), 400, { reason: 'BadRequest' }],
  ['an unknown field', eviction('web-1', { grace: 1 }), 400, { message: expect.stringContaining('Eviction of policy/v1') as unknown }],
])('%s', (_rule, body, code, json, overrides, state) => {
  const { made, ask } = parts(overrides, state);
  const answer = postEviction({ body, query: new URLSearchParams() }, made);
  expect(answer).toMatchObject({ status: code, json: { kind: 'Status', apiVersion: 'v1', code, ...json } });
  expect(answer.retryAfterSeconds).toBe(code === 429 ? 5 : undefined);
  expect(ask).toHaveBeenCalledTimes(code === 201 ? 1 : 0);
});

test('the request asks evictd to end this workload with this grace period', () => {
  const { made, ask } = parts(ONE);
  postEviction({ body: eviction('web-1', { gracePeriodSeconds: 7 }), query: new URLSearchParams() }, made);
  const cause = { kind: 'disruption', reason: 'eviction', message: 'an operator asked for it', graceNs: 7_000_000_000n };
  expect(ask).toHaveBeenCalledWith({ source: 'request', request: { kind: 'evict', workloads: ['id-web-1'], cause } });
  ask.mockClear();
  const by = 'uid 0, process 4711 (curl)';
  postEviction({ body: eviction('web-1'), query: new URLSearchParams(), by }, made);
  const known = { kind: 'disruption', reason: 'eviction', message: `${by} asked for it`, by };
  expect(ask).toHaveBeenCalledWith({ source: 'request', request: { kind: 'evict', workloads: ['id-web-1'], cause: known } });
});

test.each<[where: string, body: string, query: string]>([
  ['in the body', eviction('web-1', { dryRun: ['All'] }), ''],
  ['in the query', eviction('web-1'), 'dryRun=All'],
])('a dry-run request ends no process: %s', (_where, body, query) => {
  const { made, ask } = parts(ONE);
  expect(postEviction({ body, query: new URLSearchParams(query) }, made).status).toBe(201);
  expect(ask).not.toHaveBeenCalled();
});

test.each(['No', 'all', ''])('?dryRun=%s is refused, and no process is ended', (value) => {
  const { made, ask } = parts(ONE);
  const { status, json } = postEviction({ body: eviction('web-1'), query: new URLSearchParams({ dryRun: value }) }, made);
  expect([status, json]).toEqual([400, expect.objectContaining({ reason: 'BadRequest' })]);
  expect(ask).not.toHaveBeenCalled();
});

test('an evictd in dry run reports that, and drains nothing', () => {
  const { made, ask } = parts({ ...ONE, dryRun: true });
  const answer = postEviction({ body: eviction('web-1'), query: new URLSearchParams() }, made);
  expect(answer.json).toMatchObject({ status: 'Success', message: 'evictd makes a dry run, and ends nothing' });
  ask.mockClear();
  const ends = ['twin', 'web-1', 'web-2', 'twin'];
  expect(postDrain({ body: '{}' }, { ...made, monitor: { ask, remaining: initialState } }).json).toMatchObject({
    dryRun: true,
    drain: null,
    ends,
  });
  expect(ask).not.toHaveBeenCalled();
  const cordoned = postCordon('cordon', { by: 'uid 0' }, { ...made, monitor: { ask, remaining: initialState } });
  expect(cordoned.json).toMatchObject({
    message: 'the node is cordoned; evictd makes a dry run: it ends nothing, and evictd admit does not ask it',
  });
});

test('a request is refused while evictd stops', () => {
  const { made } = parts(ONE);
  const stopping = { ...made, monitor: { ask: () => false } };
  expect(() => postEviction({ body: eviction('web-1'), query: new URLSearchParams() }, stopping)).toThrow(/is stopping/);
});
