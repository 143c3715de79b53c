import { UNKILLABLE } from '../../core/oom/oom-badness.js';
import type { Workload } from '../../core/workload/workload.js';
import { AdjustedProcess } from './adjusted-process.js';
import type { OomScoreAdjWarnings } from './adjustment-errors.js';
import type { ProcessListing, SeenProcess } from './oom-score-adj-file.js';
import type { FoundFile, FoundWorkload } from './original-values-file.js';

/** A workload whose processes evictd writes to. */
export interface AdjustedWorkload extends Pick<FoundWorkload, 'id' | 'name' | 'path' | 'cgroupId'> {
  readonly members: Map<number, AdjustedProcess>;
  /** All values that evictd has written or is about to write. */
  readonly written: Set<number>;
  /** The lowest original value. */
  found: number;
}

/** The workloads that evictd has written to, in memory and in a file that outlives evictd. */
export class Ledger {
  readonly #touched = new Map<string, AdjustedWorkload>();
  /** The file differs from memory. */
  #unsaved = false;

  constructor(
    private readonly file: FoundFile,
    private readonly listing: ProcessListing,
    private readonly warnings: OomScoreAdjWarnings,
  ) {}

  /** Restores the state from the file of an evictd that was killed. */
  takeOver(): void {
    try {
      const found = this.file.load();
      this.#unsaved = found !== undefined;
      for (const { processes, written, ...workload } of found ?? []) {
        const members = new Map(processes.map((process) => [process.pid, new AdjustedProcess(process)]));
        this.#touched.set(workload.id, { ...workload, written: new Set(written), members });
      }
    } catch (error) {
      this.warnings.unreadable(this.file.path, error);
      this.#unsaved = true;
    }
  }

  get(id: string): AdjustedWorkload | undefined {
    return this.#touched.get(id);
  }

  open({ id, name, path, startOrder: cgroupId }: Workload): AdjustedWorkload {
    const touched = this.#touched.get(id) ?? { id, name, path, cgroupId, found: 1000, written: new Set(), members: new Map() };
    this.#touched.set(id, touched);
    return touched;
  }

  /** Safe against removal during the iteration. */
  all(): Iterable<AdjustedWorkload> {
    return this.#touched.values();
  }

  remove({ id }: AdjustedWorkload): void {
    this.#touched.delete(id);
    this.#unsaved = true;
  }

  /** Marks the file as out of date. */
  changed(): void {
    this.#unsaved = true;
  }

  /** Returns whether the file is up to date. */
  save(): boolean {
    if (!this.#unsaved) return true;
    try {
      const stored = [...this.#touched.values()].filter(({ written }) => written.size > 0).map(storedOf);
      if (stored.length > 0) this.file.save(stored);
      else this.file.remove();
      this.#unsaved = false;
      this.warnings.kept();
      return true;
    } catch (error) {
      this.warnings.notKept(this.file.path, error);
      return false;
    }
  }

  /** Processes that are new in a workload: started, moved in, or forked by a member. */
  newPids(touched: AdjustedWorkload): readonly number[] {
    return (this.listing.pids(touched) ?? []).filter((pid) => !touched.members.has(pid));
  }

  /** Adds processes that are still listed, which proves that the pid was not reused meanwhile. Returns how many. */
  admit(touched: AdjustedWorkload, unknown: readonly SeenProcess[]): number {
    if (unknown.length === 0) return 0;
    const listed = new Set(this.listing.pids(touched));
    const arrived = unknown.filter(({ identity: { pid }, value }) => listed.has(pid) && value !== UNKILLABLE);
    for (const seen of arrived) {
      const member = this.#movedTo(touched, seen) ?? this.#started(touched, seen);
      touched.members.set(member.pid, member);
      touched.found = Math.min(touched.found, member.found);
      this.#unsaved = true;
    }
    return arrived.length;
  }

  /** Takes a member from the workload that it has left. undefined: it was in none. */
  #movedTo(touched: AdjustedWorkload, { identity: { pid, start } }: SeenProcess): AdjustedProcess | undefined {
    const from = this.#holderOf(pid);
    const member = from?.get(pid);
    if (member?.start !== start) return undefined;
    from?.delete(pid);
    if (member.ours && member.now !== undefined) touched.written.add(member.now);
    return member;
  }

  /** A new process with a value that evictd wrote inherited it from its parent. */
  #started(touched: AdjustedWorkload, { identity: { pid, start, parent }, value }: SeenProcess): AdjustedProcess {
    const kin = this.#holderOf(parent)?.get(parent);
    const heirOf = kin?.now === value ? kin : undefined;
    const left = heirOf?.left === true;
    const ours = !left && (touched.written.has(value) || heirOf?.ours === true);
    if (ours) touched.written.add(value);
    return new AdjustedProcess({ pid, start, found: ours ? (kin?.found ?? touched.found) : value, left }, value, ours);
  }

  #holderOf(pid: number): Map<number, AdjustedProcess> | undefined {
    for (const { members } of this.#touched.values()) if (members.has(pid)) return members;
    return undefined;
  }
}

/** The workload for the file. Only for a workload with written values: without them there is nothing to restore. */
function storedOf({ members, written, ...workload }: AdjustedWorkload): FoundWorkload {
  const processes = [...members.values()].map(({ pid, start, found, left }) => ({ pid, start, found, left }));
  return { ...workload, written: [...written], processes };
}
