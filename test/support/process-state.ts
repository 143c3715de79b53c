import { readFileSync } from 'node:fs';

/** The letter of proc_pid_stat(5): 'T' stopped, 'Z' a zombie; undefined: gone. */
export function stateOf(pid: number): string | undefined {
  try {
    return /^\d+ \(.*\) (\S)/.exec(readFileSync(`/proc/${String(pid)}/stat`, 'latin1'))?.[1];
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
