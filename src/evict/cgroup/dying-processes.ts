import { readFileSync } from 'node:fs';

/** At most so many processes are read to see whether the kernel still ends a victim. */
const FEW = 16;

/** What processes that have got SIGKILL do. */
export interface DyingProcesses {
  /** Processor time that they have used, in clock ticks of the kernel, mostly 10 ms. */
  readonly ticks: bigint;
  /** One of them runs, or waits for a processor. */
  readonly runs: boolean;
}

/** undefined: none of the first of them could be read, or there is none. */
export function dyingProcesses(pids: readonly number[], read: (pid: number) => string | undefined = statOf): DyingProcesses | undefined {
  const found = pids.slice(0, FEW).flatMap((pid) => parseStat(read(pid) ?? '') ?? []);
  if (found.length === 0) return undefined;
  return { ticks: found.reduce((sum, { ticks }) => sum + ticks, 0n), runs: found.some(({ runs }) => runs) };
}

function statOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
  } catch {
    return undefined; // it has ended
  }
}

/**
 * The fields of proc_pid_stat(5) after the name, which may contain anything: the state is the first, utime and stime of all
 * threads are the 12th and 13th. A leader whose threads still exit is a zombie (Z) whose ticks grow.
 */
function parseStat(text: string): DyingProcesses | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, user, system] = [fields[0], fields[11], fields[12]];
  if (state === undefined || user === undefined || system === undefined) return undefined;
  return { ticks: BigInt(user) + BigInt(system), runs: state === 'R' };
}
