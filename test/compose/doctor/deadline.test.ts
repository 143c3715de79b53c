import { expect, test } from 'vitest';
import { Patience, pause } from '../../../src/compose/doctor/deadline.js';

/** As a busy machine does: this process gets no turn. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('an answer that came while this process was late is an answer', async () => {
  const patience = new Patience();
  const answer = patience.within(100, () => pause(200).then(() => true));
  block(400); // in which both are over
  expect([await answer, patience.exhausted]).toEqual([true, false]);
});

test('what never comes is given up, and told to stop', async () => {
  const patience = new Patience();
  let told: AbortSignal | undefined;
  const answer = await patience.within(20, (signal) => {
    told = signal;
    return new Promise<string>(() => {
      // never
    });
  });
  expect([answer, patience.exhausted]).toEqual([undefined, true]);
  await Promise.resolve();
  expect(told?.aborted).toBe(true);
});

test('a failure is passed on', async () => {
  const patience = new Patience();
  await expect(patience.within(1_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(patience.exhausted).toBe(false);
});
