import type { FilesystemDirectories } from '../../core/disk/filesystem-holders.js';
import { pathsByRole, type FilesystemPaths, type FilesystemRole } from '../../core/signal/layout.js';
import { errnoText } from '../../errors.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import type { Binding, FilesystemTreeLimits, FilesystemTreeResult } from '../../native/binding.js';
import { BackgroundReads } from '../../native/pending-answers.js';
import { NO_ANSWER_MS } from './directory-measurement.js';

/** Four levels: /var/lib/docker/overlay2. After half a minute a walk returns what it has. */
const LIMITS: FilesystemTreeLimits = { depth: 4, parts: 100, withinMs: 30_000, entries: 20_000_000 };
/** The least time between two walks. */
const REST_NS = 300_000_000_000n;

/** The largest directories of the node's filesystems, walked one after the other in the background. */
export class FilesystemTrees {
  /** Directories by path. */
  readonly #found = new Map<string, FilesystemDirectories>();
  readonly #problems = new Map<string, SourceProblem>();
  readonly #beganNs = new Map<string, bigint>();
  readonly #unanswered = new BackgroundReads();

  /** @param filesystems  read at each use */
  constructor(
    private readonly native: Binding,
    private readonly filesystems: FilesystemPaths,
  ) {}

  get #paths(): Readonly<Record<FilesystemRole, string>> {
    return pathsByRole(this.filesystems);
  }

  /** undefined: not walked yet. */
  of(role: FilesystemRole): FilesystemDirectories | undefined {
    return this.#found.get(this.#paths[role]);
  }

  get problems(): readonly SourceProblem[] {
    return [...this.#problems.values()];
  }

  /** Walks filesystems whose last walk is old enough. Never rejects. */
  async walk(roles: readonly FilesystemRole[]): Promise<void> {
    for (const path of new Set(roles.map((role) => this.#paths[role]))) {
      const atNs = process.hrtime.bigint();
      const beganNs = this.#beganNs.get(path);
      if (beganNs !== undefined && atNs - beganNs < REST_NS) continue;
      this.#beganNs.set(path, atNs);
      await this.#walk(path, atNs);
    }
  }

  async #walk(path: string, atNs: bigint): Promise<void> {
    const found = await this.#unanswered.read<FilesystemTreeResult>(
      path,
      NO_ANSWER_MS,
      (onDone) => new this.native.FilesystemTree(path, onDone, LIMITS),
    );
    const [root, ...below] = typeof found === 'string' ? [] : found.directories.map(amountOf);
    if (typeof found === 'string' || root === undefined) {
      const why = typeof found === 'string' ? found : errnoText(found.errno);
      this.#problems.set(path, {
        code: 'EVICTD_DISK_UNMEASURED',
        message: `cannot find the largest directories of the filesystem of ${path}: ${why}`,
      });
      return;
    }
    this.#problems.delete(path);
    this.#found.set(path, { root, below, atNs, isPartial: !found.complete || found.errors > 0 });
  }
}

function amountOf({ path, bytes, inodes }: FilesystemTreeResult['directories'][number]): FilesystemDirectories['root'] {
  return { path, amount: { bytes: BigInt(bytes), inodes: BigInt(inodes) } };
}
