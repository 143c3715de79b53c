import { readdirSync, readFileSync } from 'node:fs';

/** The letter of proc_pid_stat(5): 'T' stopped, 'Z' a zombie; undefined: gone. */
export function stateOf(pid: number): string | undefined {
  return stateIn(`/proc/${String(pid)}`);
}

/** Of each thread: 'D' waits in the kernel and cannot be killed. */
export function threadStates(pid: number): readonly string[] {
  const threads = `/proc/${String(pid)}/task`;
  return readdirSync(threads).flatMap((thread) => stateIn(`${threads}/${thread}`) ?? []);
}

function stateIn(directory: string): string | undefined {
  try {
    return /^\d+ \(.*\) (\S)/.exec(readFileSync(`${directory}/stat`, 'latin1'))?.[1];
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
