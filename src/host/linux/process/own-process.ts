import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { attempt } from '../../../errors.js';
import { namesText } from '../../../byte-paths.js';

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

/**
 * Arguments with the bytes that they were given with: Node writes U+FFFD for those that are not UTF-8. Called before
 * {@link nameProcess}, which overwrites them.
 *
 * @param cmdline  all of the process
 */
export function givenArguments(args: readonly string[], cmdline = '/proc/self/cmdline'): readonly string[] {
  const isReplaced = (arg: string): boolean => arg.includes('\ufffd');
  if (!args.some(isReplaced)) return args;
  const given = attempt(() => namesText(cmdline).split('\0').slice(0, -1).slice(-args.length)) ?? [];
  const isSame = given.length === args.length && args.every((arg, index) => arg === given[index] || isReplaced(arg));
  return isSame ? given : args;
}

/**
 * Names this process in ps, top, systemctl status and the kernel's OOM killer: 'evictd', with its arguments where the
 * whole command line is shown. Without it there would be only 'node'.
 */
export function nameProcess(args: readonly string[]): void {
  process.title = ['evictd', ...args].join(' '); // also sets the name of the thread, to its first 15 characters
  attempt(() => {
    writeFileSync('/proc/self/comm', 'evictd');
  });
}

/** The fields of /proc/PID/stat behind the name: state, parent, process group, session. */
function leadsItsSession(): boolean {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]) === process.pid;
}

const CAP_KILL = 5n;

/** Whether processes of other users may be signalled: CAP_KILL in CapEff of /proc/PID/status. */
export function canSignalOthers(procStatus: string): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(procStatus) ?? [];
  return effective !== undefined && ((BigInt(`0x${effective}`) >> CAP_KILL) & 1n) === 1n;
}

export function readCanSignalOthers(): boolean {
  return canSignalOthers(readFileSync('/proc/self/status', 'latin1'));
}

/** Identifies this boot, alike in all containers of the machine (proc(5)). '': unreadable. */
export function readBootId(): string {
  return attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? '';
}
