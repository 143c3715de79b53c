import type { FilesystemPaths } from '../../core/signal/layout.js';
import type { ContainerRuntime, StepListener, StepReport, ReportedFilesystems } from '../../monitor/ports/ports.js';
import type { Binding } from '../../native/binding.js';
import { devicesOf } from '../../native/filesystem-answer.js';

type FilesystemsReporter = Pick<ContainerRuntime, 'endpoint' | 'filesystems'>;

/** The least time between two looks at a path that is missing or does not answer. */
const AGAIN_NS = 60_000_000_000n;

/**
 * The node's filesystems: the configured ones; without imagefs and containerfs, those of the first container runtime
 * that reports any. They take effect once they are known to exist.
 */
export class FoundFilesystems implements FilesystemPaths, StepListener {
  readonly nodefs: string;
  #found: ReportedFilesystems | undefined;
  #looking = false;
  #dueNs = 0n;
  #closed = false;

  /** @param onFound  called on changes; undefined: the configured ones. `isApart`: images are not on nodefs */
  constructor(
    private readonly configured: FilesystemPaths,
    private readonly native: Pick<Binding, 'FilesystemStats'>,
    private readonly runtimes: () => readonly FilesystemsReporter[],
    private readonly onFound: (found: ReportedFilesystems | undefined, isApart: boolean) => void,
  ) {
    this.nodefs = configured.nodefs;
  }

  get imagefs(): string | undefined {
    return this.#found?.imagefs ?? this.configured.imagefs;
  }

  get containerfs(): string | undefined {
    return this.#found?.containerfs ?? this.configured.containerfs;
  }

  get isAwaited(): boolean {
    return this.#found === undefined && isRequested(this.configured) && this.runtimes().length > 0;
  }

  stepped({ input }: Pick<StepReport, 'input'>): void {
    if (this.#looking || this.#closed || input.nowNs < this.#dueNs) return;
    void this.look(input.nowNs);
  }

  skipped(): boolean {
    return this.runtimes().length === 0;
  }

  /** Takes over what the runtimes report, if it exists. Never rejects. */
  async look(nowNs: bigint): Promise<void> {
    const reported = reportedFilesystems(this.configured, this.runtimes());
    if (isSame(reported, this.#found)) return;
    const paths = reported === undefined ? [] : [reported.imagefs, ...(reported.containerfs === undefined ? [] : [reported.containerfs])];
    this.#looking = true;
    this.#dueNs = nowNs + AGAIN_NS;
    const devices = await devicesOf(this.native, [...new Set([this.nodefs, ...paths])]);
    this.#looking = false;
    if (this.#closed || paths.some((path) => !devices.has(path))) return;
    this.#dueNs = nowNs;
    this.#found = reported;
    this.onFound(reported, reported !== undefined && devices.get(reported.imagefs) !== devices.get(this.nodefs));
  }

  close(): void {
    this.#closed = true;
  }
}

/** Whether runtimes are asked. */
function isRequested({ imagefs, containerfs }: FilesystemPaths): boolean {
  return imagefs === undefined && containerfs === undefined;
}

function reportedFilesystems(configured: FilesystemPaths, runtimes: readonly FilesystemsReporter[]): ReportedFilesystems | undefined {
  if (!isRequested(configured)) return undefined;
  for (const runtime of runtimes) {
    const filesystems = runtime.filesystems();
    if (filesystems !== undefined) return { endpoint: runtime.endpoint, ...filesystems };
  }
  return undefined;
}

function isSame(a: ReportedFilesystems | undefined, b: ReportedFilesystems | undefined): boolean {
  return a?.endpoint === b?.endpoint && a?.imagefs === b?.imagefs && a?.containerfs === b?.containerfs;
}
