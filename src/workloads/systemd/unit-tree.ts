import { cgroupDirectory, isBelow, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { managerAbove, unitKind, unitNameOf, unitPlace } from '../../core/systemd/unit.js';
import type { WorkloadSources } from '../../core/workload/workload-source.js';
import type { Binding } from '../../native/binding.js';
import { cgroupsIn } from '../cgroup/child-cgroups.js';
import { SourceRoot, type TreeShape, type TreeVisitor } from '../cgroup/source-root.js';

/**
 * The roots of these sources.
 *
 * @param native  undefined: not watched
 */
export function rootsOf(sources: WorkloadSources, hierarchy: CgroupHierarchy, native: Binding | undefined): SourceRoot[] {
  const root = (path: string, shape?: TreeShape): SourceRoot => new SourceRoot(path, cgroupDirectory(hierarchy, path), native, shape);
  // On v1 a user manager has no cgroups of its own.
  const userUnits = hierarchy.version === 2;
  const named = sources.namesUnits
    ? [
        root(
          '/',
          new UnitTree('/', userUnits, (name, path) => sources.names(name) && !sources.slices.some((slice) => isBelow(path, slice))),
        ),
      ]
    : [];
  return [
    ...sources.parents.map((path) => root(path)),
    ...sources.slices.map((path) => root(path, new UnitTree(path, userUnits, () => true))),
    ...named,
  ];
}

/**
 * A user's manager with more cgroups than this, or deeper ones, is one workload: users make cgroups there, and the time
 * and watches that these take are the machine's.
 */
export const MAX_IN_MANAGER = 512;
export const MAX_LEVELS_IN_MANAGER = 8;

interface Limits {
  readonly cgroups: number;
  readonly levels: number;
}
const NO_LIMITS: Limits = { cgroups: Infinity, levels: Infinity };

/** Services and scopes anywhere below a slice, also in slices of user managers. A root in a manager has its limits. */
export class UnitTree implements TreeShape {
  readonly #root: string;
  readonly #isInManager: boolean;
  readonly #userUnits: boolean;
  readonly #isWanted: (name: string, path: string) => boolean;
  /** Cgroups in each user's manager, by its path: as listed, and what has appeared since. */
  readonly #sizes = new Map<string, number>();

  /** @param userUnits  units of user managers are members instead of the managers */
  constructor(root: string, userUnits: boolean, isWanted: (name: string, path: string) => boolean) {
    this.#root = root === '/' ? '' : root;
    this.#isInManager = managerAbove(`${root}/unit`) !== undefined;
    this.#userUnits = userUnits;
    this.#isWanted = isWanted;
  }

  place(path: string): ReturnType<TreeShape['place']> {
    const place = unitPlace(`${this.#root}/${path}`);
    if (place.kind === 'slice') return 'holder';
    if (place.kind === 'manager' && this.#userUnits && !this.isWhole(path)) return 'holder';
    if (place.kind !== 'unit' && place.kind !== 'manager') return 'neither';
    return this.#isWanted(place.unit.name, place.unit.path) ? 'member' : 'neither';
  }

  admits(path: string): boolean {
    const manager = managerAbove(`${this.#root}/${path}`)?.slice(this.#root.length + 1);
    if (manager === undefined) return true;
    const size = (this.#sizes.get(manager) ?? 0) + 1;
    this.#sizes.set(manager, size);
    return size <= MAX_IN_MANAGER;
  }

  isWhole(path: string): boolean {
    return (this.#sizes.get(path) ?? 0) > MAX_IN_MANAGER;
  }

  get hasWhole(): boolean {
    for (const size of this.#sizes.values()) if (size > MAX_IN_MANAGER) return true;
    return false;
  }

  list(directory: string, visitor: TreeVisitor): string[] {
    const whole = new Set([...this.#sizes.keys()].filter((path) => this.isWhole(path)));
    this.#sizes.clear();
    if (this.#isInManager) return this.#inManager(directory, '', visitor, whole.has(''));
    const { members, managers } = this.#below(directory, '', visitor, NO_LIMITS);
    for (const manager of managers) members.push(...this.#inManager(directory, manager, visitor, whole.has(manager)));
    return members;
  }

  #inManager(directory: string, manager: string, visitor: TreeVisitor, wasWhole: boolean): string[] {
    const limits = { cgroups: MAX_IN_MANAGER, levels: MAX_LEVELS_IN_MANAGER };
    // What is inside is followed again only if it is little by now.
    const followed: string[] = [];
    const follow = (holder: string): void => {
      if (wasWhole) return;
      followed.push(holder);
      visitor.follow(holder);
    };
    const look = { ...visitor, follow };
    const found = this.#below(directory, manager, look, limits);
    if (found.isComplete && wasWhole) return this.#inManager(directory, manager, visitor, false);
    this.#sizes.set(manager, found.isComplete ? found.seen : Infinity);
    if (found.isComplete) return found.members;
    for (const holder of followed) visitor.unfollow(holder);
    // Of units that are selected by name, and of a root, those that were seen.
    return manager !== '' && this.place(manager) === 'member' ? [manager] : found.members;
  }

  /** Lists a holder and those in it, but for managers. `seen`: cgroups. */
  #below(
    directory: string,
    holder: string,
    visitor: TreeVisitor,
    limits: Limits,
  ): { readonly members: string[]; readonly managers: readonly string[]; readonly seen: number; readonly isComplete: boolean } {
    const [members, managers]: [string[], string[]] = [[], []];
    const left = [{ path: holder, level: 1 }];
    let seen = 0;
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (next.path !== '') visitor.follow(next.path);
      for (const name of cgroupsIn(`${directory}/${next.path}`, visitor)) {
        seen += 1;
        if (seen > limits.cgroups) return { members, managers, seen, isComplete: false };
        if (unitKind(unitNameOf(name)) === undefined) continue;
        const below = next.path === '' ? name : `${next.path}/${name}`;
        const place = this.place(below);
        if (place === 'member') members.push(below);
        if (place !== 'holder') continue;
        if (next.level >= limits.levels) return { members, managers, seen, isComplete: false };
        if (unitKind(unitNameOf(name)) === 'slice') left.push({ path: below, level: next.level + 1 });
        else managers.push(below);
      }
    }
    return { members, managers, seen, isComplete: true };
  }
}
