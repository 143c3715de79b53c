import type { Workload } from '../../core/workload/workload.js';
import type { OomScoreAdjWarnings } from './adjustment-errors.js';
import type { FoundFile } from './original-values-file.js';
import { AdjustedWorkload } from './adjusted-workload.js';

/** The workloads that evictd has written to, in memory and in a file that outlives evictd. */
export class Ledger {
  readonly #file: FoundFile;
  readonly #warnings: OomScoreAdjWarnings;
  readonly #touched = new Map<string, AdjustedWorkload>();
  /** The file differs from memory. */
  #unsaved = false;

  constructor(file: FoundFile, complaints: OomScoreAdjWarnings) {
    this.#file = file;
    this.#warnings = complaints;
  }

  /** Restores the state from the file of an evictd that was killed. */
  takeOver(): void {
    try {
      const found = this.#file.load();
      this.#unsaved = found !== undefined;
      for (const stored of found ?? []) this.#touched.set(stored.id, AdjustedWorkload.stored(stored));
    } catch (error) {
      this.#warnings.unreadable(this.#file.path, error);
      this.#unsaved = true;
    }
  }

  get(id: string): AdjustedWorkload | undefined {
    return this.#touched.get(id);
  }

  open(workload: Workload): AdjustedWorkload {
    const touched = this.#touched.get(workload.id) ?? AdjustedWorkload.of(workload);
    this.#touched.set(workload.id, touched);
    return touched;
  }

  /** Safe against removal during the iteration. */
  all(): Iterable<AdjustedWorkload> {
    return this.#touched.values();
  }

  /** The workload of a process. */
  workloadOf(pid: number): AdjustedWorkload | undefined {
    for (const touched of this.#touched.values()) if (touched.members.has(pid)) return touched;
    return undefined;
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
      const stored = [...this.#touched.values()].flatMap((touched) => touched.stored ?? []);
      if (stored.length > 0) this.#file.save(stored);
      else this.#file.remove();
      this.#unsaved = false;
      this.#warnings.kept();
      return true;
    } catch (error) {
      this.#warnings.notKept(this.#file.path, error);
      return false;
    }
  }
}
