import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Keeps the service's memory small, as far as V8 lets that be said after its start: the young generation stays at its first size, and what is
 * rarely run is not optimised (the optimising compiler's own pages are several MiB). Measured in docs/benchmarks.md. Call it first.
 */
export function keepSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--no-opt');
  // A scavenge of so small a generation takes less than a millisecond alone; for a helper that does not get its turn, because what fills the memory keeps the
  // processors busy, it was seen to wait for 3 ms in the middle of a decision.
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--no-flush-bytecode'); // what was rehearsed stays compiled, however long ago that was
}

/** V8's garbage collection, to be had at a time of one's own. */
export interface Garbage {
  /** Everything: gives back what only the start needed. */
  readonly collectAll: () => void;
  /** What was made last, under a millisecond: one that would come in the middle of the next decision comes now. */
  readonly collectYoung: () => void;
}

/** V8 offers it under a flag. */
export function garbage(): Garbage {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return {
    collectAll: gc,
    collectYoung: () => {
      gc({ type: 'minor' });
    },
  };
}

/**
 * Ahead of what fills the memory, which mostly keeps every core busy, too: all threads that there are, V8's helpers among them, whom a collection waits for; and
 * all that come, because threads inherit it. Without the right to it (CAP_SYS_NICE) everything stays as it is.
 */
export function goFirst(): void {
  attempt(() => {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), constants.priority.PRIORITY_HIGHEST);
  });
  // Where the kernel groups tasks by session (sched(7), autogroup), that counts within the session only; the session has a niceness of its own. Only
  // if the session is evictd's: a shell that it was started from stays as it is.
  attempt(() => {
    if (leadsItsSession()) writeFileSync('/proc/self/autogroup', '-20', { flag: 'r+' });
  });
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // not allowed, or this kernel has no such thing
  }
}

/** The fields of /proc/PID/stat behind the command's name: state, parent, process group, session. */
function leadsItsSession(): boolean {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]) === process.pid;
}
