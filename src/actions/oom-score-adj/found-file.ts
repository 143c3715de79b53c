import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { errnoName } from '../../errors.js';

/** A process that has a value of evictd's, or is going to get one. */
export interface FoundProcess {
  readonly pid: number;
  readonly start: string;
  /** Its value before evictd wrote one; of a child, what was found in its parent. */
  readonly found: number;
  /** Somebody else changed it since: it is left alone. */
  readonly left: boolean;
}

/** A workload to whose processes evictd has written. */
export interface FoundWorkload {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly cgroupId: bigint;
  /** What a child gets back whose parent is not known any more: the lowest value found in the workload. */
  readonly found: number;
  /** All values that evictd wrote, or was about to. */
  readonly written: readonly number[];
  readonly processes: readonly FoundProcess[];
}

/** The values found, in a file that outlives evictd. Process numbers mean something until the next boot. */
export class FoundFile {
  readonly path: string;
  readonly #bootId: string;

  constructor(path: string, bootId: string) {
    this.path = path;
    this.#bootId = bootId;
  }

  /** undefined: there is no file; nothing where it is of another boot. Throws what is wrong with it. */
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

  /** Whole or not at all: what it said before stands until then. */
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
