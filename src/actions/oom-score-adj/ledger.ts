import type { Workload } from '../../core/workload.js';
import type { OomScoreAdjComplaints } from './complaints.js';
import type { FoundFile } from './found-file.js';
import { Touched } from './touched.js';

/** The workloads that evictd has touched, and the file that still knows them when evictd has ended. */
export class Ledger {
  readonly #file: FoundFile;
  readonly #complaints: OomScoreAdjComplaints;
  readonly #touched = new Map<string, Touched>();
  /** The file does not say what is known. */
  #unsaved = false;

  constructor(file: FoundFile, complaints: OomScoreAdjComplaints) {
    this.#file = file;
    this.#complaints = complaints;
  }

  /** Takes over what an evictd that did not end in order has left in the file. */
  takeOver(): void {
    try {
      const found = this.#file.load();
      this.#unsaved = found !== undefined;
      for (const stored of found ?? []) this.#touched.set(stored.id, Touched.stored(stored));
    } catch (error) {
      this.#complaints.unreadable(this.#file.path, error);
      this.#unsaved = true;
    }
  }

  get(id: string): Touched | undefined {
    return this.#touched.get(id);
  }

  /** The entry of a workload, made if there is none. */
  open(workload: Workload): Touched {
    const touched = this.#touched.get(workload.id) ?? Touched.of(workload);
    this.#touched.set(workload.id, touched);
    return touched;
  }

  /** Removed entries may be removed while they are gone through. */
  all(): Iterable<Touched> {
    return this.#touched.values();
  }

  /** Whose member it is. */
  ofProcess(pid: number): Touched | undefined {
    for (const touched of this.#touched.values()) if (touched.members.has(pid)) return touched;
    return undefined;
  }

  remove({ id }: Touched): void {
    this.#touched.delete(id);
    this.#unsaved = true;
  }

  /** Something in an entry is not what the file says. */
  changed(): void {
    this.#unsaved = true;
  }

  /** Tells whether the file says what is known. */
  save(): boolean {
    if (!this.#unsaved) return true;
    try {
      const stored = [...this.#touched.values()].flatMap((touched) => touched.stored ?? []);
      if (stored.length > 0) this.#file.save(stored);
      else this.#file.remove();
      this.#unsaved = false;
      this.#complaints.kept();
      return true;
    } catch (error) {
      this.#complaints.notKept(this.#file.path, error);
      return false;
    }
  }
}
