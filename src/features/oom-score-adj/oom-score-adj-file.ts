import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { errnoName, isShortage } from '../../errors.js';
import type { Binding, CgroupHandle } from '../../native/binding.js';
import type { OomScoreAdjWarnings } from './adjustment-errors.js';

/** Exceeds /proc/PID/status on machines with thousands of cores. */
const TEXT_BYTES = 16 * 1024;
const buffer = Buffer.alloc(TEXT_BYTES);

/** Indices of fields of /proc/PID/stat after the command name, which may contain anything; the first is field 3. */
const PARENT = 4 - 3;
const START = 22 - 3;

/** Distinguishes a process from later ones with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time in clock ticks since boot. */
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

export interface SeenProcess {
  readonly identity: ProcessIdentity;
  readonly value: number;
  readonly sizeBytes: bigint;
}

/**
 * The processes of cgroups, without evictd itself. Throws if evictd runs out of a resource, so that no list is
 * incomplete.
 */
export class ProcessListing {
  readonly #native: Binding;
  readonly #hierarchy: CgroupHierarchy;
  readonly #warnings: OomScoreAdjWarnings;

  constructor(native: Binding, hierarchy: CgroupHierarchy, complaints: OomScoreAdjWarnings) {
    this.#native = native;
    this.#hierarchy = hierarchy;
    this.#warnings = complaints;
  }

  /** undefined: unreadable. Empty if the cgroup was removed or replaced by another of the same name. */
  pids({ path, cgroupId }: { readonly path: string; readonly cgroupId: bigint }): readonly number[] | undefined {
    let handle: CgroupHandle | undefined;
    try {
      handle = new this.#native.CgroupHandle(cgroupDirectory(this.#hierarchy, path), cgroupId);
      return handle.processes().filter((pid) => pid !== process.pid);
    } catch (error) {
      if (isShortage(error)) throw error;
      return GONE.has(errnoName(error) ?? '') ? [] : undefined;
    } finally {
      handle?.close();
    }
  }

  /** The same as `see`, in batches. */
  *seen(pids: readonly number[]): Generator<void, SeenProcess[]> {
    const seen: SeenProcess[] = [];
    for (let at = 0; at < pids.length; at += AT_A_TIME) {
      seen.push(...this.see(pids.slice(at, at + AT_A_TIME)));
      yield;
    }
    return seen;
  }

  /** Reads the processes. Those that ended or may not be read are left out. */
  see(pids: readonly number[]): SeenProcess[] {
    return pids.flatMap((pid) => {
      try {
        return withProcess(pid, (held) => ({ identity: held.identity, value: held.value(), sizeBytes: held.sizeBytes() })) ?? [];
      } catch (error) {
        if (isShortage(error)) throw error;
        this.#warnings.refused(pid, undefined, error);
        return [];
      }
    });
  }
}

/** Takes a third of a millisecond. */
const AT_A_TIME = 8;
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENODEV', 'ESTALE']);
