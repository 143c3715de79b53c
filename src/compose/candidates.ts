import type { CandidateReading, WorkloadSource } from '../monitor/ports/ports.js';

/** Adds to what is known of the candidates of a source, or vetoes some. */
export type CandidateDecorator = (source: WorkloadSource) => WorkloadSource;

/** A source whose workloads can be replaced, while the source stays the same object. */
export class ReplaceableSource implements WorkloadSource {
  #current: WorkloadSource;

  constructor(first: WorkloadSource) {
    this.#current = first;
  }

  /** Returns the source before, for the caller to close. */
  replace(next: WorkloadSource): WorkloadSource {
    const before = this.#current;
    this.#current = next;
    return before;
  }

  candidates(reading?: CandidateReading): ReturnType<WorkloadSource['candidates']> {
    return this.#current.candidates(reading);
  }

  refresh(): void {
    this.#current.refresh();
  }

  version(): number | undefined {
    return this.#current.version?.();
  }

  holding(cgroup: string): ReturnType<WorkloadSource['holding']> {
    return this.#current.holding(cgroup);
  }

  problems(): ReturnType<WorkloadSource['problems']> {
    return this.#current.problems();
  }

  close(): void {
    this.#current.close();
  }
}
