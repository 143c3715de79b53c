import { amountOfBytes } from '../quantity/amount.js';

/** A process of a workload, as the journal has it. What could not be read is left out. */
export interface VictimProcess {
  readonly pid: number;
  /** Chosen by the process. */
  readonly name: string;
  /** Its arguments, shortened. Left out: it has none, or has ended. */
  readonly command?: string;
  readonly uid?: number;
  /** The name in /etc/passwd. */
  readonly user?: string;
  readonly rssBytes?: number;
  /** The kernel's, 0 to 2000. */
  readonly oomScore?: number;
}

/** The largest processes of a workload, and how long before the decision they were read. */
export interface VictimProcesses {
  readonly processes: readonly VictimProcess[];
  readonly processesSecondsBefore: number;
}

/** Processes of a text: the largest ones. */
const NAMED = 3;

/** 'java (pid 2546, user app, 22.5MiB), sh (pid 2544, user app, 1MiB)', of the largest. undefined: none is known. */
export function processesText(processes: readonly VictimProcess[] = []): string | undefined {
  const named = processes.slice(0, NAMED).map(({ pid, name, uid, user = uid, rssBytes }) => {
    const facts = [
      `pid ${String(pid)}`,
      ...(user === undefined ? [] : [`user ${String(user)}`]),
      ...(rssBytes === undefined ? [] : [amountOfBytes(BigInt(rssBytes))]),
    ];
    return `${name} (${facts.join(', ')})`;
  });
  return named.length === 0 ? undefined : named.join(', ');
}
