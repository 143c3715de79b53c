import { BootFile } from '../../storage/boot-file.js';

/** A process with a value that evictd wrote or is about to write. */
export interface FoundProcess {
  readonly pid: number;
  readonly start: string;
  /** The value before evictd's first write; for a child, the parent's. */
  readonly found: number;
  /** Another program changed the value since: evictd leaves it. */
  readonly left: boolean;
}

/** A workload whose processes evictd has written to. */
export interface FoundWorkload {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly cgroupId: bigint;
  /** The lowest original value in the workload. Restored to children whose parent is unknown. */
  readonly found: number;
  /** All values that evictd wrote or was about to write. */
  readonly written: readonly number[];
  readonly processes: readonly FoundProcess[];
}

/** The original values, in a file that outlives evictd. Pids are valid until the next boot. */
export class FoundFile {
  readonly #file: BootFile<{ readonly workloads: readonly Stored[] }>;

  constructor(path: string, bootId: string) {
    this.#file = new BootFile(path, bootId, VERSION);
  }

  get path(): string {
    return this.#file.path;
  }

  /** undefined: no file. Empty if the file is of another boot. Throws if the file is invalid. */
  load(): readonly FoundWorkload[] | undefined {
    const content = this.#file.load();
    if (content === undefined) return undefined;
    if (content === 'of another boot') return [];
    return content.workloads.map((workload) => ({ ...workload, cgroupId: BigInt(workload.cgroupId) }));
  }

  /** Atomic: the old content stays if writing fails. */
  save(workloads: readonly FoundWorkload[]): void {
    this.#file.save({ workloads: workloads.map((workload): Stored => ({ ...workload, cgroupId: String(workload.cgroupId) })) });
  }

  remove(): void {
    this.#file.remove();
  }
}

const VERSION = 1;

type Stored = Omit<FoundWorkload, 'cgroupId'> & { readonly cgroupId: string };
