import { expect, test } from 'vitest';
import type { ClusterEffect } from '../../../src/core/cluster/cluster-control.js';
import { perform } from '../../../src/features/controller/cluster-actions.js';
import { Election } from '../../../src/features/controller/election.js';

const POD = { namespace: 'n', name: 'p', uid: 'u', nodeName: 'a', phase: 'Running', terminating: true, isReady: true, tolerations: [] };
const FORCE: ClusterEffect = { kind: 'force delete', pod: POD };
const SILENCE: ClusterEffect = { kind: 'silence', node: 'a' };
const OUT_OF_SERVICE = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];

/** What was sent for an effect, with a node of this state. */
async function sent(
  effect: ClusterEffect,
  ready: string,
  more: { readonly taints?: readonly object[]; readonly isSilent?: boolean; readonly counted?: string[] } = {},
) {
  const calls: { readonly method: string; readonly body: unknown }[] = [];
  const { taints = [], isSilent = true, counted } = more;
  const node = {
    metadata: { name: 'a', resourceVersion: '7' },
    spec: { taints },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
  const pod = {
    metadata: { namespace: 'n', name: 'p', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { nodeName: 'a' },
    status: { phase: 'Running' },
  };
  const parts = {
    ask: ({ method, path, body }: { readonly method: string; readonly path: string; readonly body?: unknown }) => {
      if (method !== 'GET') calls.push({ method, body });
      return Promise.resolve({ status: 200, body: path.includes('/pods/') ? pod : node });
    },
    isSilent: () => isSilent,
    log: { info: () => undefined, warn: () => undefined },
    event: () => undefined,
    count: (what: string) => counted?.push(what),
  };
  await perform(parts, effect);
  return calls;
}
const methods = async (...of: Parameters<typeof sent>): Promise<string[]> => (await sent(...of)).map(({ method }) => method);

test('a node that has reported while its action waited is not marked', async () => {
  expect(await methods(SILENCE, 'True')).toEqual(['PATCH']);
  expect(await methods(SILENCE, 'True', { isSilent: false })).toEqual([]);
});

test('a pod is deleted by force only while its node is out of service', async () => {
  expect(await methods(FORCE, 'False', { taints: OUT_OF_SERVICE })).toEqual(['PATCH', 'DELETE']);
  expect(await methods(FORCE, 'True', { taints: OUT_OF_SERVICE })).toEqual([]);
  expect(await methods(FORCE, 'False')).toEqual([]);
});

test('the condition of a pod that is deleted by force says why', async () => {
  const message = async (nodeName: string): Promise<unknown> => {
    const [mark] = await sent({ kind: 'force delete', pod: { ...POD, nodeName } }, 'False', { taints: OUT_OF_SERVICE });
    return (mark?.body as { status: { conditions: readonly { message: string }[] } }).status.conditions[0]?.message;
  };
  expect(await message('a')).toBe('evictd: its node is out of service');
  expect(await message('')).toBe('evictd: it is bound to no node');
});

test('a taint of the controller with a value of another program gets its own value', async () => {
  const [, unreachable] = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: 'node.kubernetes.io/unreachable', value: 'x', effect }));
  const [call] = await sent({ kind: 'taint', node: 'a', mode: 'set' }, 'Unknown', { taints: [unreachable as object] });
  const { spec } = call?.body as { readonly spec: { readonly taints: readonly { readonly effect: string; readonly value?: string }[] } };
  expect(spec.taints.map(({ effect, value = '' }) => `${effect} ${value}`).toSorted()).toEqual(['NoExecute ', 'NoSchedule ']);
});

test.each<[rule: string, ready: string, effects: readonly string[], counted: readonly string[]]>([
  ['a node that gets its NoExecute taint counts', 'Unknown', [], ['tainted']],
  ['a NoExecute taint that replaces another one does not', 'False', ['NoSchedule', 'NoExecute'], []],
  ['the removal of taints does not', 'True', ['NoSchedule', 'NoExecute'], []],
])('evictions of nodes: %s', async (_rule, ready, effects, expected) => {
  const taints = effects.map((effect) => ({ key: 'node.kubernetes.io/unreachable', effect }));
  const counted: string[] = [];
  expect(await methods({ kind: 'taint', node: 'a', mode: 'set' }, ready, { taints, counted })).toEqual(['PATCH']);
  expect(counted).toEqual(expected);
});

test('a request of the leader election waits a whole number of milliseconds', async () => {
  const times: number[] = [];
  const ask = ({ withinMs }: { readonly withinMs: number }): Promise<{ status: number; body: undefined }> => {
    times.push(withinMs);
    return Promise.resolve({ status: 503, body: undefined });
  };
  const names = { namespace: 'n', name: 'l', identity: 'i' };
  const timings = { leaseNs: 15_000_000_000n, renewDeadlineNs: 10_001_000_000n, retryNs: 2_000_000_000n };
  const rest = { annotations: () => ({}), log: { info: () => undefined, warn: () => undefined }, onLead: () => undefined };
  const election = new Election({ client: { ask }, ...names, timings, nowNs: () => 0n, ...rest, onLoss: () => undefined });
  await expect.poll(() => times.length).toBeGreaterThan(0);
  await election.close();
  expect(times.filter((ms) => !Number.isInteger(ms))).toEqual([]);
});
