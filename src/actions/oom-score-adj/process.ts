import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { errnoName } from '../../errors.js';

/** Longer than /proc/PID/status on a machine of thousands of cores. */
const TEXT_BYTES = 16 * 1024;
const buffer = Buffer.alloc(TEXT_BYTES);

/** Fields of /proc/PID/stat behind the command's name, which may hold anything; the third field is the first of them. */
const PARENT = 4 - 3;
const START = 22 - 3;

/** What tells a process from another that gets its number later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since the boot. */
  readonly start: string;
  readonly parent: number;
}

/**
 * One process, held by its directory in /proc: the directory stays that of this process, and says ESRCH when it is gone, whoever has its number then.
 */
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

  /** Resident and swapped memory and page tables (mm/oom_kill.c, oom_badness); 0n: it has none, or not any more. */
  sizeBytes(): bigint {
    let kib = 0n;
    for (const [, amount = '0'] of this.#read('status').matchAll(/^Vm(?:RSS|Swap|PTE):\s*(\d+) kB$/gm)) kib += BigInt(amount);
    return kib * 1024n;
  }

  /** Throws EACCES: by `open` it is another user's, by `write` it is below the last value that somebody with CAP_SYS_RESOURCE wrote. */
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

/** Holds a process while `use` runs. undefined: it is gone, or went meanwhile. Other errors are thrown. */
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
