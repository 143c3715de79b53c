import { expect, test } from 'vitest';
import type { ClusterEffect } from '../../../src/core/cluster/cluster-control.js';
import { Refusal } from '../../../src/features/controller/cluster-actions.js';
import { ActionQueue } from '../../../src/features/controller/action-queue.js';

test('a pod that waits for its eviction is evicted, and not only marked as not ready', async () => {
  const done: string[] = [];
  let finish: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (finish = resolve));
  const perform = async (effect: ClusterEffect): Promise<void> => {
    await first;
    done.push(effect.kind);
  };
  const queue = new ActionQueue(perform, () => 0n, { warn: () => undefined });
  const plain = { namespace: 'n', nodeName: 'a', phase: 'Running', terminating: false, isReady: true, tolerations: [] };
  const pod = { ...plain, name: 'p', uid: 'p' };
  queue.add(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((node) => ({ kind: 'silence', node })));
  queue.add([{ kind: 'evict', pod }]);
  queue.add([{ kind: 'not ready', pod }]);
  finish();
  await expect.poll(() => queue.length).toBe(0);
  expect(done.at(-1)).toBe('evict');
});

test('a waiting action that is not wanted any more is dropped', async () => {
  const done: string[] = [];
  let finish: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (finish = resolve));
  const perform = async (effect: ClusterEffect): Promise<void> => {
    await first;
    done.push('node' in effect ? effect.node : effect.pod.uid);
  };
  const queue = new ActionQueue(perform, () => 0n, { warn: () => undefined });
  const silences = (...names: readonly string[]): ClusterEffect[] => names.map((node) => ({ kind: 'silence', node }));
  const running = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  queue.replace(silences(...running, 'dropped', 'kept'));
  queue.replace(silences(...running, 'kept'));
  expect(queue.length).toBe(9);
  finish();
  await expect.poll(() => queue.length).toBe(0);
  expect(done).toEqual([...running, 'kept']);
});

test.each<[rule: string, retryAfterSeconds: number | undefined, earlyMs: number, dueMs: number]>([
  ['after a second', undefined, 999, 1_000],
  ['after what the server has asked for', 20, 19_999, 20_000],
  ['after 30 s at most', 3_600, 29_999, 30_000],
])('an action that has failed is made again %s', async (_rule, retryAfterSeconds, earlyMs, dueMs) => {
  let nowMs = 0;
  let tried = 0;
  const perform = (): Promise<void> => {
    tried += 1;
    return Promise.reject(new Refusal('it', { status: 429, retryAfterSeconds, body: undefined }));
  };
  const queue = new ActionQueue(perform, () => BigInt(nowMs) * 1_000_000n, { warn: () => undefined });
  for (const [ms, expected] of [
    [0, 1],
    [earlyMs, 1],
    [dueMs, 2],
  ] as const) {
    nowMs = ms;
    queue.add([{ kind: 'silence', node: 'a' }]);
    await expect.poll(() => queue.length).toBe(0);
    expect(tried).toBe(expected);
  }
});
