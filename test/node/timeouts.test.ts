import { expect, test } from 'vitest';
import { Timeouts, pause } from '../../src/node/timeouts.js';

/** As a busy machine does: this process gets no turn. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('an answer that arrived while this process did not run is an answer', async () => {
  const timeouts = new Timeouts();
  const answer = timeouts.within(100, () => pause(200).then(() => true));
  block(400); // in which both are over
  expect([await answer, timeouts.expired]).toEqual([true, false]);
});

test('an operation without an answer is given up, and its signal is aborted', async () => {
  const timeouts = new Timeouts();
  let reported: AbortSignal | undefined;
  const answer = await timeouts.within(20, (signal) => {
    reported = signal;
    return new Promise<string>(() => {
      // never
    });
  });
  expect([answer, timeouts.expired]).toEqual([undefined, true]);
  await Promise.resolve();
  expect(reported?.aborted).toBe(true);
});

test('an error is passed on', async () => {
  const timeouts = new Timeouts();
  await expect(timeouts.within(1_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(timeouts.expired).toBe(false);
});
