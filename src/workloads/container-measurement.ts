import type { DiskAmount } from '../core/disk-amount.js';
import type { RuntimePart } from '../core/pod-sandbox.js';
import type { Workload } from '../core/workload.js';
import type { ContainerFiles, ContainerRuntime, SourceProblem } from '../monitor/ports.js';
import { withinTime } from '../native/answered.js';
import type { Binding, FilesystemReading } from '../native/binding.js';
import { readFilesystems } from '../native/filesystem-answer.js';
import type { MeasuredDirectory } from './directory-measurement.js';
import { LogFiles } from './log-files.js';

/** What the containers of a workload have on disks. */
export interface ContainersOnDisk {
  /** What goes with them when they are removed. */
  readonly layers: readonly MeasuredDirectory[];
  /** What stays. */
  readonly logs: readonly MeasuredDirectory[];
}

type Asked = Pick<ContainerRuntime, 'endpoint' | 'files'>;

/** Whoever has something else on a disk waits no longer for a runtime; one that lives has answered by then. */
const AWAITED_MS = 1_000;
/** What a runtime has measured counts for so long, and is awaited for so long where a disk is short. */
const KNOWN_NS = 60_000_000_000n;

const NOTHING: ContainersOnDisk = { layers: [], logs: [] };

/** What the containers of runtimes have written, as these tell; asked in the background. */
export class ContainerMeasurement {
  readonly #native: Pick<Binding, 'FilesystemStats'>;
  readonly #runtimes: () => readonly Asked[];
  /** By path of the workload's cgroup. */
  #parts: ReadonlyMap<string, RuntimePart> = new Map();
  /** By endpoint and id; what one has not told anew stays, and grows old. */
  readonly #told = new Map<string, ReadonlyMap<string, ContainersOnDisk>>();
  readonly #problems = new Map<string, SourceProblem>();
  readonly #asking = new Map<string, Promise<void>>();
  /** By endpoint. */
  readonly #logs = new Map<string, LogFiles>();
  readonly #newLogs: () => LogFiles;

  constructor(native: Pick<Binding, 'FilesystemStats'>, runtimes: () => readonly Asked[], newLogs = () => new LogFiles()) {
    this.#native = native;
    this.#runtimes = runtimes;
    this.#newLogs = newLogs;
  }

  /** Why it is not known what containers have written. */
  get problems(): readonly SourceProblem[] {
    return [...this.#problems.values()];
  }

  /** Asks the runtimes of these workloads, unless that is under way. Resolves when all have answered, and at the latest after a second. Never rejects. */
  async refresh(workloads: readonly Workload[]): Promise<void> {
    this.#parts = new Map(workloads.flatMap(({ path, runtime }) => (runtime ? [[path, runtime] as const] : [])));
    const endpoints = new Set([...this.#parts.values()].map(({ endpoint }) => endpoint));
    for (const known of [this.#told, this.#problems]) {
      for (const endpoint of known.keys()) if (!endpoints.has(endpoint)) known.delete(endpoint);
    }
    const asked = this.#runtimes().filter(({ endpoint }) => endpoints.has(endpoint));
    const answers = Promise.all(asked.map((runtime) => this.#asked(runtime)));
    await withinTime<undefined>(AWAITED_MS, (onDone) => {
      void answers.then(() => {
        onDone(undefined);
      });
      return { close: () => undefined };
    });
  }

  /**
   * As last told. 'measuring': something of it is older than the shortage, in which it may have been written, and its runtime is about to measure it anew.
   *
   * @param shortSinceNs  monotonic clock; left out: nothing is decided
   */
  of(path: string, shortSinceNs?: bigint): ContainersOnDisk | 'measuring' {
    const part = this.#parts.get(path);
    if (part === undefined) return NOTHING;
    const nowNs = process.hrtime.bigint();
    const told = this.#told.get(part.endpoint);
    const found = part.containers.map((id) => told?.get(id) ?? NOTHING);
    const sinceNs = shortSinceNs ?? 0n;
    const oldestNs = nowNs - KNOWN_NS > sinceNs ? nowNs - KNOWN_NS : sinceNs;
    const layers = found.flatMap((container) => container.layers.filter(({ atNs }) => atNs >= oldestNs));
    const isAwaited = shortSinceNs !== undefined && nowNs - shortSinceNs < KNOWN_NS;
    if (isAwaited && layers.length < found.length) return 'measuring';
    return { layers, logs: found.flatMap(({ logs }) => logs) };
  }

  #asked(runtime: Asked): Promise<void> {
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
  async #ask(runtime: Asked): Promise<void> {
    const { endpoint } = runtime;
    const logs = this.#logs.get(endpoint) ?? this.#newLogs();
    this.#logs.set(endpoint, logs);
    try {
      this.#told.set(endpoint, await onDisk(this.#native, logs, await runtime.files()));
      if (logs.isHanging) this.#problem(endpoint, `what the containers of ${endpoint} have logged is not known: a log does not answer`);
      else this.#problems.delete(endpoint);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#problem(endpoint, `what the containers of ${endpoint} have written is not known anew: ${why}`);
    }
  }

  #problem(endpoint: string, message: string): void {
    this.#problems.set(endpoint, { code: 'EVICTD_DISK_UNMEASURED', message });
  }
}

/** By id. What lies where nothing answers is left out. */
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

/** CRI-O adds up lengths, of which a sparse file has more than it takes: no more than is used on its filesystem. */
function usedAtMost({ totalBytes, freeBytes, inodes, inodesFree }: FilesystemReading, amount: DiskAmount): DiskAmount {
  return {
    bytes: smaller(amount.bytes, BigInt(totalBytes - freeBytes)),
    inodes: inodes === 0 ? amount.inodes : smaller(amount.inodes, BigInt(inodes - inodesFree)),
  };
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
