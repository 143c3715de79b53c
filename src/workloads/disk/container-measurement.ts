import type { DiskAmount } from '../../core/disk/disk-amount.js';
import type { RuntimePart } from '../../core/workload/pod-sandbox.js';
import type { Workload } from '../../core/workload/workload.js';
import type { ContainerFiles, ContainerRuntime, SourceProblem } from '../../monitor/ports/ports.js';
import { withinTime } from '../../native/bounded-answer.js';
import type { Binding, FilesystemReading } from '../../native/binding.js';
import { readFilesystems } from '../../native/filesystem-answer.js';
import type { MeasuredDirectory } from './directory-measurement.js';
import { minBigInt } from '../../core/quantity/integer.js';
import { messageOf } from '../../errors.js';
import { lstat } from 'node:fs/promises';

/** Disk usage of a workload's containers. */
interface ContainersOnDisk {
  /** Freed when the containers are removed. */
  readonly layers: readonly MeasuredDirectory[];
  /** Kept. */
  readonly logs: readonly MeasuredDirectory[];
}

type FilesReporter = Pick<ContainerRuntime, 'endpoint' | 'files'>;

/** How long a measurement waits for runtimes. */
const AWAITED_MS = 1_000;
/** How long a runtime's measurement is valid, and how long evictd waits for a new one during a shortage. */
const KNOWN_NS = 60_000_000_000n;

const NOTHING: ContainersOnDisk = { layers: [], logs: [] };

/** Disk usage of containers as reported by runtimes, in the background. */
export class ContainerMeasurement {
  /** Containers by cgroup path of the workload. */
  #parts: ReadonlyMap<string, RuntimePart> = new Map();
  /** Reported values by endpoint and container id. Values that are not refreshed stay and grow old. */
  readonly #reported = new Map<string, ReadonlyMap<string, ContainersOnDisk>>();
  readonly #problems = new Map<string, SourceProblem>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #logs = new Map<string, LogFiles>();
  readonly #newLogs: () => LogFiles;

  constructor(
    private readonly native: Pick<Binding, 'FilesystemStats'>,
    private readonly runtimes: () => readonly FilesReporter[],
    newLogs = () => new LogFiles(),
  ) {
    this.#newLogs = newLogs;
  }

  /** Why disk usage of containers is unknown. */
  get problems(): readonly SourceProblem[] {
    return [...this.#problems.values()];
  }

  /**
   * Asks the runtimes of these workloads, unless a request is in flight. Resolves after at most a second. Never
   * rejects.
   */
  async refresh(workloads: readonly Workload[]): Promise<void> {
    this.#parts = new Map(workloads.flatMap(({ path, runtime }) => (runtime ? [[path, runtime] as const] : [])));
    const endpoints = new Set([...this.#parts.values()].map(({ endpoint }) => endpoint));
    for (const known of [this.#reported, this.#problems]) {
      for (const endpoint of known.keys()) if (!endpoints.has(endpoint)) known.delete(endpoint);
    }
    const runtimes = this.runtimes().filter(({ endpoint }) => endpoints.has(endpoint));
    const answers = Promise.all(runtimes.map((runtime) => this.#answerOf(runtime)));
    await withinTime<undefined>(AWAITED_MS, (onDone) => {
      void answers.then(() => {
        onDone(undefined);
      });
      return { close: () => undefined };
    });
  }

  /**
   * The last values. 'measuring': some are older than the shortage, and the runtime will measure anew.
   *
   * @param shortSinceNs  monotonic; left out: no decision depends on it
   */
  of(path: string, shortSinceNs?: bigint): ContainersOnDisk | 'measuring' {
    const part = this.#parts.get(path);
    if (part === undefined) return NOTHING;
    const nowNs = process.hrtime.bigint();
    const reported = this.#reported.get(part.endpoint);
    const found = part.containers.map((id) => reported?.get(id) ?? NOTHING);
    const sinceNs = shortSinceNs ?? 0n;
    const oldestNs = nowNs - KNOWN_NS > sinceNs ? nowNs - KNOWN_NS : sinceNs;
    const layers = found.flatMap((container) => container.layers.filter(({ atNs }) => atNs >= oldestNs));
    const isAwaited = shortSinceNs !== undefined && nowNs - shortSinceNs < KNOWN_NS;
    if (isAwaited && layers.length < found.length) return 'measuring';
    return { layers, logs: found.flatMap(({ logs }) => logs) };
  }

  #answerOf(runtime: FilesReporter): Promise<void> {
    const { endpoint } = runtime;
    const asking =
      this.#asking.get(endpoint) ??
      this.#ask(runtime).finally(() => {
        this.#asking.delete(endpoint);
      });
    this.#asking.set(endpoint, asking);
    return asking;
  }

  /** Never rejects. */
  async #ask(runtime: FilesReporter): Promise<void> {
    const { endpoint } = runtime;
    const logs = this.#logs.get(endpoint) ?? this.#newLogs();
    this.#logs.set(endpoint, logs);
    try {
      this.#reported.set(endpoint, await onDisk(this.native, logs, await runtime.files()));
      if (logs.isHanging) this.#problem(endpoint, `cannot measure the logs of the containers of ${endpoint}: a log does not answer`);
      else this.#problems.delete(endpoint);
    } catch (error) {
      this.#problem(endpoint, `cannot measure the disk usage of the containers of ${endpoint}: ${messageOf(error)}`);
    }
  }

  #problem(endpoint: string, message: string): void {
    this.#problems.set(endpoint, { code: 'EVICTD_DISK_UNMEASURED', message });
  }
}

/** Disk use by container id, without containers on filesystems that do not answer. */
async function onDisk(
  native: Pick<Binding, 'FilesystemStats'>,
  logs: LogFiles,
  files: readonly ContainerFiles[],
): Promise<ReadonlyMap<string, ContainersOnDisk>> {
  const answers = await readFilesystems(native, [...new Set(files.flatMap(({ layer }) => layer?.directory ?? []))]);
  const found = new Map<string, ContainersOnDisk>();
  for (const { id, layer, logPath } of files) {
    const answer = layer && answers.get(layer.directory);
    const layers =
      layer === undefined || answer === undefined
        ? []
        : [{ device: answer.device, amount: usedAtMost(answer, layer.amount), atNs: layer.atNs }];
    found.set(id, { layers, logs: logPath === undefined ? [] : await logs.at(logPath) });
  }
  return found;
}

/**
 * CRI-O adds up file lengths, which exceed the usage of sparse files: limits the amount to what is used on the
 * filesystem.
 */
function usedAtMost({ totalBytes, freeBytes, inodes, inodesFree }: FilesystemReading, amount: DiskAmount): DiskAmount {
  return {
    bytes: minBigInt(amount.bytes, BigInt(totalBytes - freeBytes)),
    inodes: inodes === 0 ? amount.inodes : minBigInt(amount.inodes, BigInt(inodes - inodesFree)),
  };
}

/** A local disk answers within milliseconds. */
const ANSWERED_WITHIN_MS = 1_000;
/** The unit of st_blocks on every filesystem. */
const BLOCK = 512n;

type Look = (path: string) => Promise<{ readonly dev: bigint; readonly blocks: bigint }>;

/** Sizes of container logs of a runtime. A hanging read occupies a thread, so no other starts until it answers. */
export class LogFiles {
  #isLooking = false;

  constructor(private readonly look: Look = (path) => lstat(path, { bigint: true })) {}

  get isHanging(): boolean {
    return this.#isLooking;
  }

  /** Empty if the file is missing, unreadable or slow. One at a time. Never rejects. */
  async at(path: string): Promise<readonly MeasuredDirectory[]> {
    if (this.#isLooking) return [];
    this.#isLooking = true;
    const atNs = process.hrtime.bigint();
    const looked = this.look(path)
      .then(({ dev, blocks }) => [{ device: dev, amount: { bytes: blocks * BLOCK, inodes: 1n }, atNs }])
      .catch(() => [])
      .finally(() => {
        this.#isLooking = false;
      });
    const found = await withinTime<readonly MeasuredDirectory[]>(ANSWERED_WITHIN_MS, (onDone) => {
      void looked.then(onDone);
      return { close: () => undefined };
    });
    return typeof found === 'string' ? [] : found;
  }
}
