import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Raises the priority of all threads, V8's helpers included, which a collection waits for; new threads inherit it. What
 * fills the memory mostly keeps every core busy, too. Without CAP_SYS_NICE it has no effect.
 */
export function raisePriority(): void {
  attempt(() => {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), constants.priority.PRIORITY_HIGHEST);
  });
  // With autogroup (sched(7)) niceness counts within the session only, and the session has its own. It is raised only
  // where evictd leads the session: the session of a shell stays as it is.
  attempt(() => {
    if (leadsItsSession()) writeFileSync('/proc/self/autogroup', '-20', { flag: 'r+' });
  });
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // not permitted, or not in this kernel
  }
}

/** The fields of /proc/PID/stat behind the name: state, parent, process group, session. */
function leadsItsSession(): boolean {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]) === process.pid;
}
