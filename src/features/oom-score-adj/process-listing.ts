import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { errnoName, isShortage } from '../../errors.js';
import type { Binding, CgroupHandle } from '../../native/binding.js';
import type { OomScoreAdjWarnings } from './adjustment-errors.js';
import { withProcess, type ProcessIdentity } from './held-process.js';

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

  /** As `see`, in batches. */
  *seen(pids: readonly number[]): Generator<void, SeenProcess[]> {
    const seen: SeenProcess[] = [];
    for (let at = 0; at < pids.length; at += AT_A_TIME) {
      seen.push(...this.see(pids.slice(at, at + AT_A_TIME)));
      yield;
    }
    return seen;
  }

  /** Without processes that ended or may not be read. */
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
