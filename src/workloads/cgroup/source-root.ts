import { statSync } from 'node:fs';
import { unitNameOf, type UnitCgroup } from '../../core/systemd/unit.js';
import { attempt, errnoName, asError } from '../../errors.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import type { Binding, CgroupTree, CgroupTreeChanges } from '../../native/binding.js';
import type { Protection } from '../../core/workload/workload.js';
import type { CgroupSample } from './cgroup-files.js';
import type { RuleEffect } from '../workload-rules.js';
import { fsPath, namesIn } from '../../byte-paths.js';

/** Changes of a root's members: none, unknown (list them), or the last event by path below the root. */
export type MembersChange = 'none' | 'unknown' | ReadonlyMap<string, 'appeared' | 'vanished'>;

/** Selects members among the cgroups below a root. Paths are relative to the root. */
export interface TreeShape {
  list(directory: string, visitor: TreeVisitor): string[];
  /** `holder`: not a member, but may contain some. */
  place(path: string): 'member' | 'holder' | 'neither';
  /** Adds a new member. false: there are too many others beside it, so the tree has to be listed. */
  admits(path: string): boolean;
  /** A holder that is a member itself, because it contains too much to be listed. '': the root, which is not a member. */
  isWhole(path: string): boolean;
  /** Whether such a holder exists. Only a listing shows that it contains less now. */
  readonly hasWhole: boolean;
}

/** What a listing does with the holders. */
export interface TreeVisitor {
  /** Called before the holder is listed. */
  follow(holder: string): void;
  unfollow(holder: string): void;
  /** It could not be listed. */
  unlisted(): void;
}

/** A place with members. Paths are relative to it. */
export interface MemberRoot {
  readonly path: string;
  readonly directory: string;
  /** 'reported': names from a runtime, which win over those of directories. */
  readonly names: 'directories' | 'reported';
  changes(known: () => number): MembersChange;
  /** Possible members, and files if there is no shape. */
  list(): string[];
  nameOf(below: string): string;
  /** Whether it is a member only because it contains too many. */
  isWhole(below: string): boolean;
  /** Tries to watch. A watch follows the directory, not the name, which a rename above (v1) can give to another. */
  watch(): void;
  /** A known name belongs to another cgroup or to none. A watched root learns that from the kernel. */
  forget(): void;
  /** Forces a new listing. */
  relist(): void;
  /** Paths of members that other rules may match since the last call. Left out: never. */
  relabelled?(): readonly string[];
  problem(): SourceProblem | undefined;
  close(): void;
}

/**
 * A cgroup whose children, or descendants of a given shape, are workloads. If watched, the kernel queues changes in it
 * and in holders, never inside workloads, until a pass or tick reads them. Otherwise the directory's link count shows
 * whether the number of children changed; a tree is listed.
 */
export class SourceRoot implements MemberRoot {
  readonly names = 'directories';
  #tree: CgroupTree | undefined;
  /** The inode of the watched directory. */
  #inode: bigint | undefined;
  #failure: Error | undefined;
  #listed = false;

  /** @param native  undefined: not watched */
  constructor(
    readonly path: string,
    readonly directory: string,
    private readonly native: Binding | undefined,
    /** undefined: the children are the members. */
    readonly shape?: TreeShape,
  ) {}

  /** @param known  the number of known children, called only if nothing is watched */
  changes(known: () => number): MembersChange {
    const reported = this.#reported();
    if (!this.#listed || this.shape?.hasWhole) return 'unknown';
    if (reported) return reported.length === 0 ? 'none' : this.#ofMembers(reported);
    if (this.shape) return 'unknown';
    // kernfs counts subdirectories in the link count. If no known child was removed, an equal count means the same
    // children, except for a rename (v1).
    return known() === linksOf(this.directory) - 2 ? 'none' : 'unknown';
  }

  watch(): void {
    if (this.native === undefined) return;
    const inode = inodeOf(this.directory);
    if (this.#tree && inode === this.#inode) return;
    this.close();
    this.#inode = inode;
    try {
      this.#tree = new this.native.CgroupTree(this.directory);
      this.#failure = undefined;
      this.#listed = false; // earlier changes are not reported
    } catch (error) {
      this.#failed(error);
    }
  }

  list(): string[] {
    this.#listed = true;
    const visitor: TreeVisitor = {
      follow: (holder) => {
        this.#follow(holder);
      },
      unfollow: (holder) => this.#tree?.unfollow(holder),
      unlisted: () => {
        this.#listed = false;
      },
    };
    return attempt(() => (this.shape ? this.shape.list(this.directory, visitor) : namesIn(this.directory))) ?? []; // see `problem`
  }

  nameOf(below: string): string {
    return this.shape ? unitNameOf(below.slice(below.lastIndexOf('/') + 1)) : below;
  }

  isWhole(below: string): boolean {
    return this.shape?.isWhole(below) ?? false;
  }

  forget(): void {
    if (this.#tree === undefined) this.relist();
  }

  relist(): void {
    this.#listed = false;
  }

  /** Why an existing root is not watched. */
  problem(): SourceProblem | undefined {
    const errno = errnoName(this.#failure);
    if (this.shape?.isWhole('')) {
      return {
        code: 'EVICTD_SOURCE_CUT',
        message: `workload source ${this.path} is in a user's manager and has too many cgroups to be listed, or too many levels; the others are not workloads`,
        hint: 'name a source above the manager: then the whole manager can be evicted',
      };
    }
    if (this.#failure === undefined || errno === 'ENOENT') return undefined;
    const instead = this.shape ? 'what is below it is listed' : 'its children are counted';
    return {
      code: 'EVICTD_SOURCE_WATCH',
      message: `workload source ${this.path} cannot be watched: ${String(this.#failure)}; ${instead} at every pass instead`,
      hint: HINTS[errno ?? ''] ?? 'candidates are still found; a renamed one (cgroup v1) may be found late',
    };
  }

  close(): void {
    if (this.#tree === undefined) return;
    this.#tree.close();
    this.#tree = undefined;
    this.#listed = false;
  }

  #failed(error: unknown): void {
    this.#failure = asError(error);
  }

  #follow(holder: string): void {
    try {
      this.#tree?.follow(holder);
    } catch (error) {
      this.close();
      this.#failed(error);
    }
  }

  /** undefined: not watched. */
  #reported(): CgroupTreeChanges['list'] | undefined {
    if (this.#tree === undefined) return undefined;
    const changes = this.#tree.changes();
    if (changes === undefined) return [];
    const { list, overflow, gone } = changes;
    if (overflow) this.#listed = false;
    if (gone) {
      // Removed or renamed. The next tick tries again, and `problem` reports a failure.
      this.close();
      return undefined;
    }
    return list;
  }

  /** A new holder may have children, and those of a vanished one vanish without events: all are listed. */
  #ofMembers(reported: CgroupTreeChanges['list']): MembersChange {
    const { shape } = this;
    const last = new Map<string, 'appeared' | 'vanished'>();
    for (const { path, kind } of reported) {
      const place = shape?.place(path) ?? 'member';
      const isTooMany = place === 'member' && kind === 'appeared' && shape?.admits(path) === false;
      if (place === 'holder' || isTooMany) {
        this.#listed = false;
        return 'unknown';
      }
      if (place === 'member') last.set(path, kind);
    }
    return last.size === 0 ? 'none' : last;
  }
}

const HINTS: Readonly<Record<string, string>> = {
  EMFILE: 'raise fs.inotify.max_user_instances, or the limit of open files (LimitNOFILE)',
  ENOSPC: 'raise fs.inotify.max_user_watches',
};

/** 2: missing, which counts as empty. */
function linksOf(directory: string): number {
  return attempt(() => statSync(fsPath(directory), { throwIfNoEntry: false }))?.nlink ?? 2; // for errors see `problem`
}

/** undefined: missing. */
export function inodeOf(directory: string): bigint | undefined {
  return attempt(() => statSync(fsPath(directory), { bigint: true, throwIfNoEntry: false })?.ino); // see `problem`
}

/** A child of a source, a unit below it, or a cgroup reported by a container runtime. */
export interface Member {
  readonly name: string;
  readonly path: string;
  readonly root: MemberRoot;
  readonly row: number;
  readonly id: bigint;
  readonly effect: RuleEffect;
  /** The protection of a unit that the machine needs. */
  readonly listed: Protection | undefined;
  /** A login session, which is evicted last. */
  readonly isSession: boolean;
  /** undefined: not the cgroup of a service or scope. */
  readonly unit: UnitCgroup | undefined;
  /** The memory limit when it was listed; undefined: none, or unreadable. */
  readonly limitBytes: bigint | undefined;
}

/** A member as read in one pass. */
export interface Sampled {
  readonly member: Member;
  readonly sample: CgroupSample | undefined;
}
