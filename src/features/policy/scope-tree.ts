import type { ScopePattern } from '../../core/policy/scope-pattern.js';
import { managerAbove, unitPlace } from '../../core/systemd/unit.js';
import { cgroupsIn } from '../../workloads/cgroup/child-cgroups.js';
import { MAX_IN_MANAGER, MAX_LEVELS_IN_MANAGER } from '../../workloads/systemd/unit-tree.js';
import type { TreeShape, TreeVisitor } from '../../workloads/cgroup/source-root.js';

/** The limit for all patterns together, because users can make cgroups that take time and watches of the machine. */
export const MAX_SCOPES = 4_096;
const MAX_HOLDERS = 4_096;
const MAX_SEEN = 16_384;

interface Place {
  readonly isHolder: boolean;
  readonly matching: readonly number[];
}

/**
 * The cgroups that match one of the patterns. Where deeper ones may match, changes lead to a new listing. In a unit or a
 * user's manager as many are listed as for workloads (UnitTree): their processes make cgroups.
 */
export class ScopeTree implements TreeShape {
  #isCut = false;
  /** Units and managers with more cgroups than are listed, by their paths. */
  #cut: ReadonlySet<string> = new Set();
  /** Some are listed, but not followed yet. */
  #isBehind = false;
  #followed: ReadonlySet<string> = new Set();
  /** Cgroups in each unit and manager. */
  readonly #sizes = new Map<string, number>();
  /** A path always has the same place: listed again, it costs nothing. */
  readonly #known = new Map<string, Place>();

  constructor(private readonly patterns: readonly ScopePattern[]) {}

  /** Whether there are more cgroups than are listed of all together. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The units and managers that the last listing left incomplete, with the slash. */
  get cut(): ReadonlySet<string> {
    return this.#cut;
  }

  /** No event says that there are fewer. */
  get hasWhole(): boolean {
    return this.#isCut || this.#isBehind || this.#cut.size > 0;
  }

  place(path: string): ReturnType<TreeShape['place']> {
    const { isHolder, matching } = this.#of(path);
    if (isHolder) return 'holder';
    return matching.length > 0 ? 'member' : 'neither';
  }

  /** The indices of the patterns that match. */
  matching(path: string): readonly number[] {
    return this.#of(path).matching;
  }

  admits(path: string): boolean {
    const owner = ownerOf(path);
    return !this.#isCut && (owner === undefined || this.#grow(owner) <= MAX_IN_MANAGER);
  }

  isWhole(): boolean {
    return false;
  }

  list(directory: string, visitor: TreeVisitor): string[] {
    const before = this.#cut;
    const cut = new Set<string>();
    const followed = new Set<string>();
    this.#sizes.clear();
    this.#isCut = this.#isBehind = false;
    const found: string[] = [];
    const left: Holder[] = [{ path: '', owner: undefined, level: 0 }];
    let seen = 0;
    // Grows meanwhile.
    for (const { path: holder, owner, level } of left) {
      if (this.#isCut) break;
      if (owner !== undefined && cut.has(owner)) continue;
      if (owner !== undefined && before.has(owner)) this.#isBehind = true;
      else if (holder !== '') {
        visitor.follow(holder);
        followed.add(holder);
      }
      for (const name of cgroupsIn(`${directory}/${holder}`, visitor)) {
        seen += 1;
        const path = holder === '' ? name : `${holder}/${name}`;
        const { isHolder, matching } = this.#of(path);
        this.#isCut = seen > MAX_SEEN || found.length >= MAX_SCOPES || (isHolder && left.length > MAX_HOLDERS);
        if (this.#isCut) break;
        if (owner !== undefined && this.#grow(owner) > MAX_IN_MANAGER) {
          cut.add(owner);
          break;
        }
        if (matching.length > 0) found.push(path);
        if (!isHolder) continue;
        if (owner !== undefined && level > MAX_LEVELS_IN_MANAGER) cut.add(owner);
        else left.push({ path, owner: owner ?? ownerOf(path), level: owner === undefined ? 1 : level + 1 });
      }
    }
    this.#cut = cut;
    this.#unfollow(followed, visitor);
    return found;
  }

  /** Ends watches in what is cut, and on what is not listed any more. */
  #unfollow(followed: Set<string>, visitor: TreeVisitor): void {
    for (const owner of this.#cut) visitor.unfollow(owner.slice(1));
    for (const path of this.#followed) if (!followed.has(path)) visitor.unfollow(path);
    this.#followed = followed;
  }

  /** Returns its size with one more cgroup. */
  #grow(owner: string): number {
    const size = (this.#sizes.get(owner) ?? 0) + 1;
    this.#sizes.set(owner, size);
    return size;
  }

  #of(path: string): Place {
    let known = this.#known.get(path);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_SEEN) this.#known.clear();
    const isHolder = this.patterns.some((pattern) => pattern.reachesBelow(path));
    known = { isHolder, matching: this.patterns.flatMap((pattern, index) => (pattern.matches(path) ? [index] : [])) };
    this.#known.set(path, known);
    return known;
  }
}

interface Holder {
  readonly path: string;
  /** The owner from {@link ownerOf}. */
  readonly owner: string | undefined;
  /** The level below the owner. */
  readonly level: number;
}

/** The outermost unit or user's manager that a cgroup is or is in, with the slash; undefined: none. */
function ownerOf(path: string): string | undefined {
  return managerAbove(`/${path}`) ?? unitPlace(`/${path}`).unit?.path;
}
