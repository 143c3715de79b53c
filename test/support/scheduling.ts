import { readdirSync, readFileSync } from 'node:fs';

export const SCHED_FIFO = 1;

/** Scheduling policy and real-time priority of the threads with this name (proc_pid_stat(5), fields 41 and 40). */
export function scheduling(pid: number, name: string): readonly (readonly [policy: number, priority: number])[] {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks).flatMap((task): [number, number][] => {
    const stat = readFileSync(`${tasks}/${task}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return stat.includes(`(${name})`) ? [[Number(fields[38]), Number(fields[37])]] : [];
  });
}
