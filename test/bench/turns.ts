import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const TICK_MS = 1;

/** The longest time that the event loop was blocked, in ms. */
export interface Blocked {
  /** Processor time of the loop thread. */
  readonly ranMs: number;
  /** By the clock, with waits for a processor. */
  readonly passedMs: number;
}

/** The duration of a task, and the longest gap between two timers of the loop during it. */
export async function watchingTurns(task: () => Promise<unknown>): Promise<Blocked & { readonly tookMs: number }> {
  // The thread id of the main thread is the process id.
  const schedstat = openSync(`/proc/self/task/${String(process.pid)}/schedstat`, 'r');
  const buffer = Buffer.alloc(128);
  const onProcessorNs = (): number => Number(buffer.toString('latin1', 0, readSync(schedstat, buffer, 0, buffer.length, 0)).split(' ')[0]);
  let [ran, passed] = [onProcessorNs(), performance.now()];
  let [ranMs, passedMs] = [0, 0];
  const look = (): void => {
    const [nowRan, now] = [onProcessorNs(), performance.now()];
    ranMs = Math.max(ranMs, (nowRan - ran) / 1e6);
    passedMs = Math.max(passedMs, now - passed - TICK_MS);
    [ran, passed] = [nowRan, now];
  };
  const ticking = setInterval(look, TICK_MS);
  try {
    await pause(10);
    [ranMs, passedMs] = [0, 0];
    const from = performance.now();
    await task();
    const tookMs = performance.now() - from;
    await pause(10);
    return { ranMs, passedMs, tookMs };
  } finally {
    clearInterval(ticking);
    closeSync(schedstat);
  }
}
