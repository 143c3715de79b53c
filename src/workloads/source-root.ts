import { readdirSync, statSync } from 'node:fs';
import { errnoName } from '../errors.js';
import type { SourceProblem } from '../monitor/ports.js';
import type { Binding, CgroupTree } from '../native/binding.js';

/** What happened to the children of a root: nothing, something unknown (list them), or this last of all, by name. */
export type ChildrenChange = 'none' | 'unknown' | ReadonlyMap<string, 'appeared' | 'vanished'>;

/**
 * A cgroup whose children are workloads, and who of them comes and goes. Watched, the kernel tells; nobody is woken for it: what is told stands in the kernel's
 * queue until a pass asks, and the tick empties it. Not watched, or where the watch cannot be had, the directory's link count tells whether there are as many
 * as before.
 */
export class SourceRoot {
  readonly path: string;
  readonly directory: string;
  readonly #native: Binding | undefined;
  #tree: CgroupTree | undefined;
  /** Of the watched directory. */
  #inode: bigint | undefined;
  #failure: Error | undefined;
  #listed = false;

  /** @param native  undefined: not to be watched */
  constructor(path: string, directory: string, native: Binding | undefined) {
    this.path = path;
    this.directory = directory;
    this.#native = native;
  }

  /** @param known  how many children are known: asked only where nobody tells */
  changes(known: () => number): ChildrenChange {
    const told = this.#told();
    if (!this.#listed) return 'unknown';
    if (told) return told;
    // kernfs counts subdirectories in the links of a directory, at once. As long as none of the known was removed, as many means the same ones; only a
    // renamed one (v1) does not show.
    return known() === linksOf(this.directory) - 2 ? 'none' : 'unknown';
  }

  /** Tries to be watched where it is not. A watch follows the directory, not the name: where one above it was renamed (v1) another may have the name. */
  watch(): void {
    if (this.#native === undefined) return;
    const inode = inodeOf(this.directory);
    if (this.#tree && inode === this.#inode) return;
    this.close();
    this.#inode = inode;
    try {
      this.#tree = new this.#native.CgroupTree(this.directory, 'children');
      this.#failure = undefined;
      this.#listed = false; // what came before is not told
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** To be called before they are listed: what comes later is told, or counted. */
  listing(): void {
    this.#listed = true;
  }

  /** A name that was known is another's now, or nobody's: where the kernel tells, it tells that, too. */
  forget(): void {
    if (this.#tree === undefined) this.#listed = false;
  }

  /** Why it is not watched, where it should be and is there. */
  problem(): SourceProblem | undefined {
    const errno = errnoName(this.#failure);
    if (this.#failure === undefined || errno === 'ENOENT') return undefined;
    return {
      code: 'EVICTD_SOURCE_WATCH',
      message: `workload source ${this.path} cannot be watched: ${String(this.#failure)}; its children are counted at every pass instead`,
      hint: HINTS[errno ?? ''] ?? 'candidates are found all the same, a renamed one (cgroup v1) possibly late',
    };
  }

  close(): void {
    if (this.#tree === undefined) return;
    this.#tree.close();
    this.#tree = undefined;
    this.#listed = false;
  }

  /** undefined: nobody tells. */
  #told(): ChildrenChange | undefined {
    if (this.#tree === undefined) return undefined;
    const changes = this.#tree.changes();
    if (changes === undefined) return 'none';
    const { list, overflow, gone } = changes;
    if (overflow) this.#listed = false;
    if (gone) {
      // It was removed or renamed: a watch of the children alone is not lost otherwise, whatever is short. The next tick watches anew, and
      // where that fails `problem` says why.
      this.close();
      return undefined;
    }
    return new Map(list.map(({ path, kind }) => [path, kind]));
  }
}

const HINTS: Readonly<Record<string, string>> = {
  EMFILE: 'raise fs.inotify.max_user_instances, or the limit of open files (LimitNOFILE)',
  ENOSPC: 'raise fs.inotify.max_user_watches',
};

/** 2: it is not there, which is as good as empty. */
function linksOf(directory: string): number {
  try {
    return statSync(directory, { throwIfNoEntry: false })?.nlink ?? 2;
  } catch {
    return 2; // `problems` says so
  }
}

/** undefined: it is not there. */
export function inodeOf(directory: string): bigint | undefined {
  try {
    return statSync(directory, { bigint: true, throwIfNoEntry: false })?.ino;
  } catch {
    return undefined; // `problems` says so
  }
}

/** The names in it, files included. */
export function namesIn({ directory }: SourceRoot): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // `problems` says so
  }
}
