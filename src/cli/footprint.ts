import { readFileSync, writeFileSync } from 'node:fs';
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
  setFlagsFromString('--no-flush-bytecode'); // what was rehearsed stays compiled, however long ago that was
}

/** Gives back what only the start needed: one collection, which V8 offers under a flag. */
export function shedStart(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}

/**
 * Ahead of what fills the memory, which mostly keeps every core busy, too. Threads inherit it: call it before there are any that matter. Without
 * the right to it (CAP_SYS_NICE) everything stays as it is.
 */
export function goFirst(): void {
  attempt(() => {
    setPriority(constants.priority.PRIORITY_HIGHEST);
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
