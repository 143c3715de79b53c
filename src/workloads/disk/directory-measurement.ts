import { constants } from 'node:os';
import type { DiskAmount } from '../../core/disk/disk-amount.js';
import type { Workload } from '../../core/workload/workload.js';
import { errnoText } from '../../errors.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import type { Binding, DirectoryUsageResult } from '../../native/binding.js';
import { BackgroundReads } from '../../native/pending-answers.js';

/** Disk usage of a workload's directory. */
export interface MeasuredDirectory {
  /** st_dev. */
  readonly device: bigint;
  readonly amount: DiskAmount;
  /** Time of the measurement, monotonic. */
  readonly atNs: bigint;
}

/** Timeout of disk reads in the background. */
export const NO_ANSWER_MS = 60_000;
/** The least time between two measurements, and the largest part of the time for them. */
const REST_NS = 60_000_000_000n;
const REST_PART = 20n;
/** The most hanging walks. Then no more begin, so that threads are left for other reads. */
const MAX_UNANSWERED = 2;

/** Disk usage of the workloads' directories, measured one after the other in the background. */
export class DirectoryMeasurement {
  /** The latest measurement, by cgroup path of the workload. */
  #latest: ReadonlyMap<string, readonly MeasuredDirectory[]> = new Map();
  #problems: readonly SourceProblem[] = [];
  #measuring = false;
  #dueNs = 0n;
  readonly #unanswered = new BackgroundReads();

  constructor(private readonly native: Binding) {}

  of(path: string): readonly MeasuredDirectory[] {
    return this.#latest.get(path) ?? [];
  }

  get problems(): readonly SourceProblem[] {
    return this.#problems;
  }

  /**
   * Measures the directories, unless a measurement runs or ended recently. Ignores directories of several workloads.
   * Returns whether it measured. Never rejects.
   */
  async refresh(workloads: readonly Workload[]): Promise<boolean> {
    const beganNs = process.hrtime.bigint();
    if (this.#measuring || beganNs < this.#dueNs) return false;
    this.#measuring = true;
    const measured = new Map<string, MeasuredDirectory[]>();
    const problems: SourceProblem[] = [];
    let walkingNs = 0n;
    for (const [path, owners] of ownersOf(workloads)) {
      const atNs = process.hrtime.bigint();
      const [owner, other] = owners;
      if (owner === undefined || other !== undefined) {
        problems.push(shared(path, owners));
        continue;
      }
      const found = await this.#walked(path);
      if (typeof found === 'object') walkingNs += process.hrtime.bigint() - atNs;
      if (typeof found === 'object' && found.device !== 0n) {
        const amount = { bytes: BigInt(found.bytes), inodes: BigInt(found.inodes) };
        measured.set(owner, [...(measured.get(owner) ?? []), { device: found.device, amount, atNs }]);
      }
      const reason = incompleteness(found);
      if (reason !== undefined) {
        problems.push({ code: 'EVICTD_DISK_UNMEASURED', message: `cannot measure ${path} completely: ${reason}` });
      }
    }
    this.#measuring = false;
    const restNs = walkingNs * REST_PART;
    this.#dueNs = beganNs + (restNs > REST_NS ? restNs : REST_NS);
    [this.#latest, this.#problems] = [measured, problems];
    return true;
  }

  async #walked(path: string): Promise<DirectoryUsageResult | string> {
    const { subjects } = this.#unanswered;
    if (!subjects.includes(path) && subjects.length >= MAX_UNANSWERED) return `${subjects.join(' and ')} do not answer`;
    return this.#unanswered.read<DirectoryUsageResult>(path, NO_ANSWER_MS, (onDone) => new this.native.DirectoryUsage(path, onDone));
  }
}

function shared(path: string, owners: readonly string[]): SourceProblem {
  return {
    code: 'EVICTD_DIRECTORY_SHARED',
    message: `${path} is a directory of ${String(owners.length)} workloads, ${owners.slice(0, 2).join(' and ')} among them: it counts for none`,
    hint: 'let its rule match only one workload',
  };
}

/** undefined: complete, or the directory does not exist. */
function incompleteness(found: DirectoryUsageResult | string): string | undefined {
  if (typeof found === 'string') return found;
  if (found.device === 0n && found.errno === constants.errno.ENOENT) return undefined;
  if (found.errors > 0) return errnoText(found.errno);
  return found.complete ? undefined : 'it was moved meanwhile';
}

/** Cgroup paths of workloads by directory. */
function ownersOf(workloads: readonly Workload[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const workload of workloads) {
    for (const { path } of workload.directories ?? []) owners.set(path, [...(owners.get(path) ?? []), workload.path]);
  }
  return owners;
}
