import type { Workload } from '../../core/workload/workload.js';
import type { FoundWorkload } from './original-values-file.js';
import { AdjustedProcess } from './adjusted-process.js';

/** A workload whose processes evictd writes to. */
export class AdjustedWorkload {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly cgroupId: bigint;
  readonly members = new Map<number, AdjustedProcess>();
  /** All values that evictd has written or is about to write. */
  readonly written: Set<number>;
  #found: number;

  private constructor({ id, name, path, cgroupId, found, written }: Omit<FoundWorkload, 'processes'>) {
    this.id = id;
    this.name = name;
    this.path = path;
    this.cgroupId = cgroupId;
    this.#found = found;
    this.written = new Set(written);
  }

  static of({ id, name, path, startOrder }: Workload): AdjustedWorkload {
    return new AdjustedWorkload({ id, name, path, cgroupId: startOrder, found: 1000, written: [] });
  }

  static stored({ processes, ...workload }: FoundWorkload): AdjustedWorkload {
    const touched = new AdjustedWorkload(workload);
    for (const process of processes) touched.members.set(process.pid, AdjustedProcess.stored(process));
    return touched;
  }

  /** The lowest original value. */
  get found(): number {
    return this.#found;
  }

  add(member: AdjustedProcess): void {
    this.members.set(member.pid, member);
    this.#found = Math.min(this.#found, member.found);
  }

  /** Adds a member that moved here from another workload. */
  adopt(member: AdjustedProcess): void {
    this.add(member);
    if (member.ours && member.now !== undefined) this.written.add(member.now);
  }

  /** For the file. undefined: nothing was written, so there is nothing to restore. */
  get stored(): FoundWorkload | undefined {
    if (this.written.size === 0) return undefined;
    const { id, name, path, cgroupId, found } = this;
    return {
      id,
      name,
      path,
      cgroupId,
      found,
      written: [...this.written],
      processes: [...this.members.values()].map(({ stored }) => stored),
    };
  }
}
