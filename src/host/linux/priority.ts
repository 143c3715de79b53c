import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Ahead of what fills the memory, which mostly keeps every core busy, too: all threads that there are, V8's helpers among them, whom a collection waits for; and
 * all that come, because threads inherit it. Without the right to it (CAP_SYS_NICE) everything stays as it is.
 */
export function raisePriority(): void {
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
