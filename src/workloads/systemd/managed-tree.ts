import { readFileSync, statSync } from 'node:fs';
import { cgroupDirectory, isBelow, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { attempt, errnoName } from '../../errors.js';
import { fsPath, subdirectoriesIn } from '../../byte-paths.js';
import { SourceRoot, type TreeShape, type TreeVisitor } from '../cgroup/source-root.js';

/** Users may make cgroups in theirs; what is beyond is not seen. */
const MAX_CGROUPS = 4096;
const NOTHING_THERE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENODEV', 'ENOTDIR']);

/** @param managed  paths of the managed cgroups; '/': the root */
export function managedRoot(managed: () => readonly string[], hierarchy: CgroupHierarchy): SourceRoot {
  return new SourceRoot('/', cgroupDirectory(hierarchy, '/'), undefined, new ManagedTree(managed));
}

/**
 * What systemd-oomd may kill: in managed cgroups those without children, and as a whole those with memory.oom.group
 * (oomd-manager.c, recursively_get_cgroup_context). Paths are below the mount.
 */
class ManagedTree implements TreeShape {
  readonly hasWhole = false;

  constructor(private readonly managed: () => readonly string[]) {}

  list(mount: string, visitor: TreeVisitor): string[] {
    const managed = [...new Set(this.managed())];
    const outermost = managed.filter((path) => !managed.some((other) => isBelow(path, other)));
    const found: string[] = [];
    const left = outermost.map((path) => ({ path: path.slice(1), isManaged: true }));
    for (let seen = 0, next = left.pop(); next !== undefined && seen < MAX_CGROUPS; seen += 1, next = left.pop()) {
      const directory = `${mount}/${next.path}`;
      const children = !next.isManaged && isOneGroup(directory) ? [] : childrenOf(directory, visitor);
      if (children === undefined) continue;
      if (children.length === 0 && next.path !== '') found.push(next.path);
      for (const name of children) left.push({ path: next.path === '' ? name : `${next.path}/${name}`, isManaged: false });
    }
    return found;
  }

  /** Membership depends on what a cgroup contains, so that the tree is listed whenever it matters. */
  place(): 'neither' {
    return 'neither';
  }

  admits(): boolean {
    return true;
  }

  isWhole(): boolean {
    return false;
  }
}

/**
 * Whether a cgroup's own wishes count: root's, and those of the user who owns the managed cgroup above
 * (oomd-util.c, oomd_fetch_cgroup_oom_preference).
 */
export function mayPrefer(path: string, managed: readonly string[], hierarchy: CgroupHierarchy): boolean {
  const owner = ownerOf(cgroupDirectory(hierarchy, path));
  const above = managed.filter((other) => other === path || isBelow(path, other));
  return owner !== undefined && (owner === 0 || above.some((other) => ownerOf(cgroupDirectory(hierarchy, other)) === owner));
}

function isOneGroup(directory: string): boolean {
  // false: removed meanwhile, which its listing finds, or without the memory controller
  return attempt(() => readFileSync(fsPath(`${directory}/memory.oom.group`), 'latin1').trim() === '1') ?? false;
}

/** undefined: it is gone, or could not be listed. */
function childrenOf(directory: string, visitor: TreeVisitor): readonly string[] | undefined {
  try {
    return subdirectoriesIn(directory);
  } catch (error) {
    if (!NOTHING_THERE.has(errnoName(error))) visitor.unlisted();
    return undefined;
  }
}

/** undefined: it is gone. */
function ownerOf(directory: string): number | undefined {
  return statSync(fsPath(directory), { throwIfNoEntry: false })?.uid;
}
