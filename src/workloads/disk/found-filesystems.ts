import type { FilesystemPaths } from '../../core/signal/layout.js';
import type { ContainerRuntime, StepListener, StepReport, ToldFilesystems } from '../../monitor/ports/ports.js';
import type { Binding } from '../../native/binding.js';
import { devicesOf } from '../../native/filesystem-answer.js';

type Asked = Pick<ContainerRuntime, 'endpoint' | 'filesystems'>;

/** The least time between two looks at a path that is missing or does not answer. */
const AGAIN_NS = 60_000_000_000n;

/**
 * The node's filesystems: the configured ones; without imagefs and containerfs, those of the first container runtime
 * that reports any. They take effect once they are known to exist.
 */
export class FoundFilesystems implements FilesystemPaths, StepListener {
  readonly nodefs: string;
  readonly #configured: FilesystemPaths;
  readonly #native: Pick<Binding, 'FilesystemStats'>;
  readonly #runtimes: () => readonly Asked[];
  readonly #onFound: (found: ToldFilesystems | undefined, isApart: boolean) => void;
  #found: ToldFilesystems | undefined;
  #looking = false;
  #dueNs = 0n;
  #closed = false;

  /** @param onFound  called on changes; undefined: the configured ones. `isApart`: images are not on nodefs */
  constructor(
    configured: FilesystemPaths,
    native: Pick<Binding, 'FilesystemStats'>,
    runtimes: () => readonly Asked[],
    onFound: (found: ToldFilesystems | undefined, isApart: boolean) => void,
  ) {
    this.nodefs = configured.nodefs;
    this.#configured = configured;
    this.#native = native;
    this.#runtimes = runtimes;
    this.#onFound = onFound;
  }

  get imagefs(): string | undefined {
    return this.#found?.imagefs ?? this.#configured.imagefs;
  }

  get containerfs(): string | undefined {
    return this.#found?.containerfs ?? this.#configured.containerfs;
  }

  get isAwaited(): boolean {
    return this.#found === undefined && isAsked(this.#configured) && this.#runtimes().length > 0;
  }

  stepped({ input }: Pick<StepReport, 'input'>): void {
    if (this.#looking || this.#closed || input.nowNs < this.#dueNs) return;
    void this.look(input.nowNs);
  }

  /** Takes over what the runtimes report, if it exists. Never rejects. */
  async look(nowNs: bigint): Promise<void> {
    const told = toldOf(this.#configured, this.#runtimes());
    if (isSame(told, this.#found)) return;
    const paths = told === undefined ? [] : [told.imagefs, ...(told.containerfs === undefined ? [] : [told.containerfs])];
    this.#looking = true;
    this.#dueNs = nowNs + AGAIN_NS;
    const devices = await devicesOf(this.#native, [...new Set([this.nodefs, ...paths])]);
    this.#looking = false;
    if (this.#closed || paths.some((path) => !devices.has(path))) return;
    this.#dueNs = nowNs;
    this.#found = told;
    this.#onFound(told, told !== undefined && devices.get(told.imagefs) !== devices.get(this.nodefs));
  }

  close(): void {
    this.#closed = true;
  }
}

/** Whether runtimes are asked. */
function isAsked({ imagefs, containerfs }: FilesystemPaths): boolean {
  return imagefs === undefined && containerfs === undefined;
}

function toldOf(configured: FilesystemPaths, runtimes: readonly Asked[]): ToldFilesystems | undefined {
  if (!isAsked(configured)) return undefined;
  for (const runtime of runtimes) {
    const told = runtime.filesystems();
    if (told !== undefined) return { endpoint: runtime.endpoint, ...told };
  }
  return undefined;
}

function isSame(a: ToldFilesystems | undefined, b: ToldFilesystems | undefined): boolean {
  return a?.endpoint === b?.endpoint && a?.imagefs === b?.imagefs && a?.containerfs === b?.containerfs;
}
