import { expect, test } from 'vitest';
import type { ClusterEffect } from '../../../src/core/cluster/cluster-control.js';
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
