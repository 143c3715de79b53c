import { cgroupDirectory, isBelow, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { unitKind, unitNameOf, unitPlace } from '../../core/systemd/unit.js';
import type { WorkloadSources } from '../../core/workload/workload-source.js';
import type { Binding } from '../../native/binding.js';
import { errnoName } from '../../errors.js';
import { SourceRoot, type TreeShape } from '../cgroup/source-root.js';
import { namesIn } from '../../byte-paths.js';

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

/** Services and scopes anywhere below a slice, also in slices of user managers. */
export class UnitTree implements TreeShape {
  readonly #root: string;
  readonly #userUnits: boolean;
  readonly #isWanted: (name: string, path: string) => boolean;

  /** @param userUnits  units of user managers are members instead of the managers */
  constructor(root: string, userUnits: boolean, isWanted: (name: string, path: string) => boolean) {
    this.#root = root === '/' ? '' : root;
    this.#userUnits = userUnits;
    this.#isWanted = isWanted;
  }

  place(path: string): ReturnType<TreeShape['place']> {
    const place = unitPlace(`${this.#root}/${path}`);
    if (place.kind === 'slice' || (place.kind === 'manager' && this.#userUnits)) return 'holder';
    if (place.kind !== 'unit' && place.kind !== 'manager') return 'neither';
    return this.#isWanted(place.unit.name, place.unit.path) ? 'member' : 'neither';
  }

  list(directory: string, unlisted: () => void): string[] {
    return this.#below(directory, '', unlisted);
  }

  #below(directory: string, path: string, unlisted: () => void): string[] {
    return unitsIn(`${directory}/${path}`, unlisted).flatMap((name) => {
      const below = path === '' ? name : `${path}/${name}`;
      const place = this.place(below);
      if (place === 'holder') return this.#below(directory, below, unlisted);
      return place === 'member' ? [below] : [];
    });
  }
}

/** Removed meanwhile, or a file. */
const NOTHING_THERE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENODEV', 'ENOTDIR']);

/** @param unlisted  called if the directory cannot be listed (EMFILE, ENFILE, ENOMEM) */
function unitsIn(directory: string, unlisted: () => void): string[] {
  try {
    return namesIn(directory).filter((name) => unitKind(unitNameOf(name)) !== undefined);
  } catch (error) {
    if (!NOTHING_THERE.has(errnoName(error))) unlisted();
    return [];
  }
}
