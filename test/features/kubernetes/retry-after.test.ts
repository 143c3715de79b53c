import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import { initialState } from '../../../src/core/decide/state.js';
import { ClusterReports } from '../../../src/features/kubernetes/reports/cluster-reports.js';
import { followingRetryAfter, type Ask } from '../../../src/features/kubernetes/reports/report-ports.js';
import { input, SECOND } from '../../core/support.js';
import { eviction } from './pod.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['the deletion of a pod', /^PATCH \S+\/pods\/web\/status$/],
  ['the report of the node', /^GET \S+\/nodes\/node-1$/],
  ['an event', /^POST \S+\/events$/],
])('where the server asks for 20 s, %s is not sent again before', async (_what, call) => {
  const asked: string[] = [];
  const ask: Ask = ({ method, path }) => {
    asked.push(`${method} ${path}`);
    return Promise.resolve({ status: 429, retryAfterSeconds: 20, body: undefined });
  };
  const sent = (): number => asked.filter((one) => call.test(one)).length;
  const nothing = (): undefined => undefined;
  const section = { before: [], keep: nothing };
  const reports = new ClusterReports(
    { ask: () => ask },
    {
      ...{ nodeName: 'node-1', isLeaving: false, log: { info: nothing, warn: nothing } },
      config: {
        kubeconfig: '/kubeconfig',
        nodeName: 'node-1',
        budgets: 'respect',
        taint: undefined,
        conditions: 'own',
        kubelet: 'present',
      },
    },
    {
      ...{ restored: { state: initialState, signals: new Map(), abandoned: new Map() }, bootId: 'boot-1', section, nodeSection: section },
      ...{ metrics: { budgetViolated: nothing, podEvictionRefused: nothing }, onRestart: nothing },
    },
  );
  onTestFinished(() => {
    reports.close();
  });
  const decision = eviction();
  const step = (effects: readonly Effect[], victims: object): void => {
    const report = { wake: { source: 'tick', atNs: 0n }, input: { ...input(SECOND, undefined), victims }, state: initialState, effects };
    reports.stepped(report as unknown as Parameters<typeof reports.stepped>[0]);
  };
  step([{ kind: 'evict', decision }], new Map());
  step([], new Map([[decision.serial, { signalledAtNs: 1n, error: undefined }]]));
  await vi.advanceTimersByTimeAsync(0);
  expect(sent()).toBe(1);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(sent()).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent()).toBe(2);
});

test.each<[rule: string, answers: readonly (readonly [status: number, seconds?: number])[], pauses: readonly number[]]>([
  ['no answer asks for a wait', [[500], [200]], [1_000, 1_000]],
  ['a shorter one does not count', [[503, 0.5]], [1_000]],
  [
    'the longest of several counts, once',
    [
      [429, 3],
      [503, 7],
      [429, 2],
    ],
    [7_000, 1_000],
  ],
  ['at most 30 s count', [[429, 3_600]], [30_000]],
  ['a success asks for none', [[200, 20]], [1_000]],
])('%s', async (_rule, answers, pauses) => {
  const left = [...answers];
  const given: Ask = () => {
    const [status, retryAfterSeconds] = left.shift() ?? [0];
    return Promise.resolve({ status, retryAfterSeconds, body: undefined });
  };
  const { ask, pauseMs } = followingRetryAfter(given, () => 1_000);
  for (const _ of answers) await ask({ method: 'GET', path: '/', withinMs: 1 });
  expect(pauses.map((_, failures) => pauseMs(failures))).toEqual(pauses);
});
