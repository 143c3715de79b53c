import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { errnoName } from '../../errors.js';

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
  readonly path: string;
  readonly #bootId: string;

  constructor(path: string, bootId: string) {
    this.path = path;
    this.#bootId = bootId;
  }

  /** undefined: no file. Empty if the file is of another boot. Throws if the file is invalid. */
  load(): readonly FoundWorkload[] | undefined {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (errnoName(error) === 'ENOENT') return undefined;
      throw error;
    }
    const { version, bootId, workloads } = JSON.parse(text) as { version: unknown; bootId: unknown; workloads: readonly Stored[] };
    if (version !== VERSION) throw new Error(`${this.path} is of another version: ${String(version)}`);
    if (bootId !== this.#bootId) return [];
    return workloads.map((workload) => ({ ...workload, cgroupId: BigInt(workload.cgroupId) }));
  }

  /** Atomic: the old content stays if writing fails. */
  save(workloads: readonly FoundWorkload[]): void {
    const stored = workloads.map((workload): Stored => ({ ...workload, cgroupId: String(workload.cgroupId) }));
    const beside = `${this.path}.new`;
    writeFileSync(beside, `${JSON.stringify({ version: VERSION, bootId: this.#bootId, workloads: stored })}\n`, { mode: 0o600 });
    renameSync(beside, this.path);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

const VERSION = 1;

type Stored = Omit<FoundWorkload, 'cgroupId'> & { readonly cgroupId: string };
