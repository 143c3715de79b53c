import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { errnoName } from '../../errors.js';

/** Exceeds /proc/PID/status on machines with thousands of cores. */
const TEXT_BYTES = 16 * 1024;
const buffer = Buffer.alloc(TEXT_BYTES);

/** Indices of fields of /proc/PID/stat after the command name, which may contain anything; the first is field 3. */
const PARENT = 4 - 3;
const START = 22 - 3;

/** Distinguishes a process from later ones with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since boot. */
  readonly start: string;
  readonly parent: number;
}

/** One process, held by its open directory in /proc: after its end reads fail with ESRCH, even if the pid is reused. */
export class HeldProcess {
  readonly identity: ProcessIdentity;
  readonly #directory: string;

  constructor(pid: number, descriptor: number) {
    this.#directory = `/proc/self/fd/${String(descriptor)}`;
    const stat = this.#read('stat');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    this.identity = { pid, start: fields[START] ?? '', parent: Number(fields[PARENT] ?? 0) };
  }

  value(): number {
    return Number(this.#read('oom_score_adj'));
  }

  /** Resident and swapped memory and page tables (mm/oom_kill.c, oom_badness); 0n: none, or the process is exiting. */
  sizeBytes(): bigint {
    let kib = 0n;
    for (const [, amount = '0'] of this.#read('status').matchAll(/^Vm(?:RSS|Swap|PTE):\s*(\d+) kB$/gm)) kib += BigInt(amount);
    return kib * 1024n;
  }

  /**
   * Throws EACCES: from `open`, the process belongs to another user; from `write`, the value is below the last one
   * written with CAP_SYS_RESOURCE.
   */
  write(value: number): void {
    const file = openSync(`${this.#directory}/oom_score_adj`, constants.O_WRONLY);
    try {
      writeSync(file, String(value));
    } finally {
      closeSync(file);
    }
  }

  #read(name: string): string {
    const file = openSync(`${this.#directory}/${name}`, constants.O_RDONLY);
    try {
      return buffer.toString('latin1', 0, readSync(file, buffer, 0, TEXT_BYTES, 0));
    } finally {
      closeSync(file);
    }
  }
}

/** Calls `use` with the process. undefined: it has ended. Throws other errors. */
export function withProcess<T>(pid: number, use: (held: HeldProcess) => T): T | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(`/proc/${String(pid)}`, constants.O_RDONLY | constants.O_DIRECTORY);
    return use(new HeldProcess(pid, descriptor));
  } catch (error) {
    const errno = errnoName(error);
    if (errno === 'ESRCH' || errno === 'ENOENT') return undefined;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
