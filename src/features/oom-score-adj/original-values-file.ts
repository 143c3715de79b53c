import * as z from 'zod/mini';
import { BootFile } from '../../storage/boot-file.js';
import { writtenInteger, writtenPid } from '../../storage/written-number.js';

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
  readonly #file: BootFile<Contents<FoundWorkload>, Contents<Stored>>;

  constructor(path: string, bootId: string) {
    this.#file = new BootFile(path, bootId, VERSION, contents);
  }

  get path(): string {
    return this.#file.path;
  }

  /** undefined: no file. Empty if the file is of another boot. Throws if the file is invalid. */
  load(): readonly FoundWorkload[] | undefined {
    const content = this.#file.load();
    return content === 'of another boot' ? [] : content?.workloads;
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
interface Contents<Workload> {
  readonly workloads: readonly Workload[];
}

function contents(): z.ZodMiniType<Contents<FoundWorkload>> {
  const score = z.int().check(z.minimum(-1000), z.maximum(1000));
  const process = z.object({ pid: writtenPid(), start: z.string(), found: score, left: z.boolean() });
  const workload = {
    ...{ id: z.string(), name: z.string(), path: z.string(), cgroupId: writtenInteger() },
    ...{ found: score, written: z.array(score), processes: z.array(process) },
  };
  return z.object({ workloads: z.array(z.object(workload)) });
}
