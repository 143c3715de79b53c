import { readdirSync, statSync } from 'node:fs';
import { unitNameOf } from '../core/unit.js';
import { errnoName } from '../errors.js';
import type { SourceProblem } from '../monitor/ports.js';
import type { Binding, CgroupTree, CgroupTreeChanges } from '../native/binding.js';

/** What happened to the members of a root: nothing, something unknown (list them), or this last of all, by path below the root. */
export type MembersChange = 'none' | 'unknown' | ReadonlyMap<string, 'appeared' | 'vanished'>;

/** Which cgroups below a root are members, where they are not simply its children. Paths are those below the root. */
export interface TreeShape {
  /** @param unlisted  called for each holder that could not be listed: what is in it is missing */
  list(directory: string, unlisted: () => void): string[];
  /** `holder`: no member, but some may be in it. */
  place(path: string): 'member' | 'holder' | 'neither';
}

/** What members are found below. Paths are those below it. */
export interface MemberRoot {
  readonly path: string;
  readonly directory: string;
  /** 'told': names that are more than those of directories, and win over them. */
  readonly names: 'directories' | 'told';
  changes(known: () => number): MembersChange;
  /** What could be a member: files of a root without a shape are among it. What comes later is told, or counted. */
  list(): string[];
  nameOf(below: string): string;
  /** Tries to be watched where it is not. A watch follows the directory, not the name: where one above it was renamed (v1) another may have the name. */
  watch(): void;
  /** A name that was known is another's now, or nobody's: where the kernel tells, it tells that, too. */
  forget(): void;
  /** All are to be listed once more. */
  relist(): void;
  problem(): SourceProblem | undefined;
  close(): void;
}

/**
 * A cgroup whose children, or what has the shape of a member further below, are workloads, and who of them comes and goes. Watched, the kernel tells; nobody
 * is woken for it: what is told stands in the kernel's queue until a pass asks, and the tick empties it. Not watched, or where the watch cannot be had,
 * the directory's link count tells whether there are as many children as before; a tree is listed.
 */
export class SourceRoot implements MemberRoot {
  readonly path: string;
  readonly names = 'directories';
  readonly directory: string;
  /** undefined: its children are the members. */
  readonly shape: TreeShape | undefined;
  readonly #native: Binding | undefined;
  #tree: CgroupTree | undefined;
  /** Of the watched directory. */
  #inode: bigint | undefined;
  #failure: Error | undefined;
  #listed = false;

  /** @param native  undefined: not to be watched */
  constructor(path: string, directory: string, native: Binding | undefined, shape?: TreeShape) {
    this.path = path;
    this.directory = directory;
    this.shape = shape;
    this.#native = native;
  }

  /** @param known  how many children are known: asked only where nobody tells */
  changes(known: () => number): MembersChange {
    const told = this.#told();
    if (!this.#listed) return 'unknown';
    if (told) return told.length === 0 ? 'none' : this.#ofMembers(told);
    if (this.shape) return 'unknown';
    // kernfs counts subdirectories in the links of a directory, at once. As long as none of the known was removed, as many means the same ones; only a
    // renamed one (v1) does not show.
    return known() === linksOf(this.directory) - 2 ? 'none' : 'unknown';
  }

  watch(): void {
    if (this.#native === undefined) return;
    const inode = inodeOf(this.directory);
    if (this.#tree && inode === this.#inode) return;
    this.close();
    this.#inode = inode;
    try {
      this.#tree = new this.#native.CgroupTree(this.directory, this.shape ? 'all' : 'children');
      this.#failure = undefined;
      this.#listed = false; // what came before is not told
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  list(): string[] {
    this.#listed = true;
    const unlisted = (): void => {
      this.#listed = false;
    };
    try {
      return this.shape ? this.shape.list(this.directory, unlisted) : readdirSync(this.directory);
    } catch {
      return []; // `problems` says so
    }
  }

  nameOf(below: string): string {
    return this.shape ? unitNameOf(below.slice(below.lastIndexOf('/') + 1)) : below;
  }

  forget(): void {
    if (this.#tree === undefined) this.relist();
  }

  relist(): void {
    this.#listed = false;
  }

  /** Why it is not watched, where it should be and is there. */
  problem(): SourceProblem | undefined {
    const errno = errnoName(this.#failure);
    if (this.#failure === undefined || errno === 'ENOENT') return undefined;
    const instead = this.shape ? 'what is below it is listed' : 'its children are counted';
    return {
      code: 'EVICTD_SOURCE_WATCH',
      message: `workload source ${this.path} cannot be watched: ${String(this.#failure)}; ${instead} at every pass instead`,
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
  #told(): CgroupTreeChanges['list'] | undefined {
    if (this.#tree === undefined) return undefined;
    const changes = this.#tree.changes();
    if (changes === undefined) return [];
    const { list, overflow, gone } = changes;
    if (overflow) this.#listed = false;
    if (gone) {
      // It was removed or renamed, or its tree cannot be followed for want of a watch. The next tick watches anew, and where that fails `problem` says why.
      this.close();
      return undefined;
    }
    return list;
  }

  /** What vanishes takes what is below it along without a word of it: then all are looked for. */
  #ofMembers(told: CgroupTreeChanges['list']): MembersChange {
    const { shape } = this;
    const last = new Map<string, 'appeared' | 'vanished'>();
    for (const { path, kind } of told) {
      const place = shape?.place(path) ?? 'member';
      if (place === 'member') last.set(path, kind);
      else if (place === 'holder' && kind === 'vanished') {
        this.#listed = false;
        return 'unknown';
      }
    }
    return last.size === 0 ? 'none' : last;
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
