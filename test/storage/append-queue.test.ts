import { expect, test } from 'vitest';
import { AppendQueue, type AppendQueueOptions } from '../../src/storage/append-queue.js';

/** A queue of numbers that weigh what they are, up to 10. */
function queueOf(options: Partial<AppendQueueOptions<number>> = {}) {
  const written: number[] = [];
  const dropped: number[] = [];
  const failures: boolean[] = [];
  let isBroken = false;
  const queue: AppendQueue<number> = new AppendQueue<number>({
    limit: 10,
    weigh: (item) => item,
    gatherMs: 0,
    write: async () => {
      const taken = queue.take(1);
      await Promise.resolve();
      if (isBroken) {
        queue.putBack(taken);
        throw new Error('EIO');
      }
      written.push(...taken);
    },
    dropped: (items) => dropped.push(...items),
    failed: (_error, isFirst) => failures.push(isFirst),
    ...options,
  });
  return { queue, written, dropped, failures, fail: (fails: boolean) => (isBroken = fails) };
}

test.each<[rule: string, keep: number | undefined, pushed: readonly number[], dropped: readonly number[]]>([
  ['as much as the limit may wait', undefined, [4, 6], []],
  ['beyond it the oldest are dropped, no more than needed', undefined, [4, 6, 1], [4]],
  ['down to what may still wait', 3, [4, 3, 2, 2], [4, 3, 2]],
  ['the newest stays, however much it weighs', undefined, [4, 11], [4]],
])('%s', (_rule, keep, pushed, lost) => {
  const { queue, dropped } = queueOf(keep === undefined ? {} : { keep });
  for (const item of pushed) queue.push(item);
  expect(dropped).toEqual(lost);
});

test('nothing is written before push returns; flush writes in order', async () => {
  const { queue, written } = queueOf();
  for (const item of [1, 2, 3]) queue.push(item);
  expect(written).toEqual([]);
  expect(await queue.flush(1_000)).toBe(true);
  expect(written).toEqual([1, 2, 3]);
});

test('an item that could not be written stays first, flush reports it, and only the first failure in a row is marked', async () => {
  const { queue, written, failures, fail } = queueOf();
  fail(true);
  for (const item of [1, 2]) queue.push(item);
  expect([await queue.flush(1_000), await queue.flush(1_000)]).toEqual([false, false]);
  expect([queue.list(), failures]).toEqual([
    [1, 2],
    [true, false],
  ]);
  fail(false);
  expect(await queue.flush(1_000)).toBe(true);
  expect(written).toEqual([1, 2]);
});

test('a write that hangs does not delay flush, and shows in waitingMs', async () => {
  const { queue } = queueOf({ write: () => new Promise(() => undefined) });
  queue.push(1);
  expect(await queue.flush(1)).toBe(false);
  expect(queue.waitingMs).toBeGreaterThan(0);
});
