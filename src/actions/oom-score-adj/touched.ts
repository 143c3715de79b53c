import type { Workload } from '../../core/workload.js';
import type { FoundProcess, FoundWorkload } from './oom-score-adj-found.js';

/** What evictd knows of a process from pass to pass. */
export interface Known {
  readonly pid: number;
  readonly start: string;
  /** Before evictd wrote. */
  found: number;
  /** As it was last seen or written. */
  now: number;
  /** `now` is evictd's, and not what was found. */
  ours: boolean;
  /** Somebody else changed what evictd had written: left alone. */
  left: boolean;
  /** The value that the kernel did not take. */
  refused: number | undefined;
}

/** A workload whose processes evictd has looked at in order to write to them. */
export class Touched {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly cgroupId: bigint;
  readonly members = new Map<number, Known>();
  readonly written: Set<number>;
  /** The lowest value found. */
  found: number;

  constructor({ id, name, path, cgroupId, found, written }: Omit<FoundWorkload, 'processes'>) {
    this.id = id;
    this.name = name;
    this.path = path;
    this.cgroupId = cgroupId;
    this.found = found;
    this.written = new Set(written);
  }

  static of({ id, name, path, startOrder }: Workload): Touched {
    return new Touched({ id, name, path, cgroupId: startOrder, found: 1000, written: [] });
  }

  static stored({ processes, ...workload }: FoundWorkload): Touched {
    const touched = new Touched(workload);
    for (const process of processes) touched.members.set(process.pid, { ...process, now: NaN, ours: true, refused: undefined });
    return touched;
  }

  add(known: Known): void {
    this.members.set(known.pid, known);
    this.found = Math.min(this.found, known.found);
  }

  /** One that has come from another workload, with a value of evictd's. */
  adopt(known: Known): void {
    this.add(known);
    if (known.ours) this.written.add(known.now);
  }

  /** For the file: nothing is to be given back where nothing was written. */
  get stored(): FoundWorkload | undefined {
    if (this.written.size === 0) return undefined;
    const processes = [...this.members.values()].map(({ pid, start, found, left }): FoundProcess => ({ pid, start, found, left }));
    const { id, name, path, cgroupId, found } = this;
    return { id, name, path, cgroupId, found, written: [...this.written], processes };
  }
}
