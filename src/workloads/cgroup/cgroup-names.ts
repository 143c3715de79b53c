import { readFileSync, statSync } from 'node:fs';
import { attempt } from '../../errors.js';
import { fsPath } from '../../byte-paths.js';
import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { NameFacts } from '../../core/systemd/protected-units.js';
import { readOperators } from '../systemd/operators.js';

/** Writable for the group or for others. */
const WRITABLE_FOR_OTHERS = 0o022;
/** The owner of files whose owner has no id in this user namespace (fs.overflowuid). */
const UNMAPPED_UID = 65534;

/**
 * Whether the names of cgroups mean something. A name is chosen by those who may write to the directory above, so it
 * counts only where root owns every directory above: the user of a delegated subtree gives any name there.
 * The owner of the cgroup itself says nothing: container runtimes give it to the user of the container.
 */
export class CgroupNames implements NameFacts {
  readonly #hierarchy: CgroupHierarchy;
  readonly #operators: ReadonlySet<number>;
  readonly #trusted: ReadonlySet<number>;

  constructor(hierarchy: CgroupHierarchy, operators = readOperators()) {
    this.#hierarchy = hierarchy;
    this.#operators = operators;
    this.#trusted = new Set([0, process.geteuid?.() ?? 0, ...(hasAllUsers() ? [] : [UNMAPPED_UID])]);
  }

  isOperator(uid: number): boolean {
    return this.#operators.has(uid);
  }

  isNamedByRoot(path: string): boolean {
    return this.namer(path) === 0;
  }

  /** The user who chose the name; undefined: several may have. */
  namer(path: string): number | undefined {
    const above = withAncestors(path).slice(1).reverse();
    for (const directory of above) {
      const owner = this.#owner(cgroupDirectory(this.#hierarchy, directory));
      if (owner !== 0) return owner;
    }
    return 0;
  }

  /** Whether root owns the cgroup. If root also gave the cgroup its name, root gave the names in it. */
  isOwnedByRoot(path: string): boolean {
    return this.#owner(cgroupDirectory(this.#hierarchy, path)) === 0;
  }

  #owner(directory: string): number | undefined {
    try {
      const found = statSync(fsPath(directory), { throwIfNoEntry: false });
      if (found === undefined) return 0;
      if ((found.mode & WRITABLE_FOR_OTHERS) !== 0) return undefined;
      return this.#trusted.has(found.uid) ? 0 : found.uid;
    } catch {
      return 0; // a protection that cannot be checked protects
    }
  }
}

/** Whether this user namespace has an id for every user of the machine. */
function hasAllUsers(): boolean {
  return attempt(() => /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'))) ?? true;
}
