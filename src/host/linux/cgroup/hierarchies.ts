import { existsSync, readFileSync } from 'node:fs';
import { cgroupDirectory, membership, pathBelowMount, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import { parseMountinfo, type Mount } from '../disk/mountinfo.js';
import { fsPath, namesText } from '../../../byte-paths.js';
import { attempt } from '../../../errors.js';

/** The cgroup hierarchies that evictd uses. undefined: not mounted, or the controller is off. */
export interface Hierarchies {
  readonly memory: CgroupHierarchy | undefined;
  readonly pids: CgroupHierarchy | undefined;
  /** v1 only: what v2 counts of disks is beside memory. */
  readonly blkio?: CgroupHierarchy | undefined;
  readonly cpuset: CgroupHierarchy | undefined;
  /** v1 only: a v2 cgroup is frozen in its own hierarchy. */
  readonly freezer: CgroupHierarchy | undefined;
  /** cgroup2 with whichever controllers: cgroup.kill and cgroup.freeze need none. */
  readonly unified: CgroupHierarchy | undefined;
  /** v1 without a controller (name=systemd), where systemd keeps its units unless it has cgroup2. */
  readonly systemd: CgroupHierarchy | undefined;
}

/**
 * A controller is v1's where a v1 hierarchy with it is mounted, else v2's if v2 has it: on a hybrid machine cgroup2 is
 * mounted without controllers.
 *
 * @param unified the controllers of a cgroup2 mount (its cgroup.controllers)
 */
export function findHierarchies(all: readonly Mount[], unified: (mountPoint: string) => readonly string[]): Hierarchies {
  const last = new Map(all.map((mount) => [mount.mountPoint, mount]));
  const mounts = all.filter((mount) => last.get(mount.mountPoint) === mount); // a later one hides the others
  const v2 = widest(mounts.filter((mount) => mount.type === 'cgroup2'));
  const findV1 = (controller: string): CgroupHierarchy | undefined => {
    const v1 = widest(mounts.filter((mount) => mount.type === 'cgroup' && mount.options.includes(controller)));
    return v1 && { version: 1, controller, mountPoint: v1.mountPoint, root: v1.root };
  };
  const whole = v2 && ({ version: 2, controller: '', mountPoint: v2.mountPoint, root: v2.root } as const);
  const find = (controller: string): CgroupHierarchy | undefined =>
    findV1(controller) ?? (whole && unified(whole.mountPoint).includes(controller) ? whole : undefined);
  return {
    memory: find('memory'),
    pids: find('pids'),
    blkio: findV1('blkio'),
    cpuset: find('cpuset'),
    freezer: findV1('freezer'),
    unified: whole,
    systemd: findV1('name=systemd'),
  };
}

export function readHierarchies(): Hierarchies {
  return findHierarchies(parseMountinfo(namesText('/proc/self/mountinfo')), (mountPoint) => {
    const text = attempt(() => readFileSync(fsPath(`${mountPoint}/cgroup.controllers`), 'latin1'));
    return text?.trim().split(' ') ?? []; // hidden by another mount, or not permitted: as if not mounted
  });
}

/** This process's memory cgroup, below the mount; undefined: hidden by a namespace, or outside the mount. */
export function ownMemoryCgroup(hierarchy: CgroupHierarchy): string | undefined {
  const kernelPath = membership(namesText('/proc/self/cgroup'), hierarchy);
  return kernelPath === undefined ? undefined : pathBelowMount(kernelPath, hierarchy);
}

/**
 * Whether the mount shows the machine's root cgroup. A container may see an ordinary cgroup as root. Inside a cgroup
 * namespace mountinfo does not show the difference; files that only the root has or lacks do.
 */
export function showsRootCgroup(hierarchy: CgroupHierarchy): boolean {
  const root = cgroupDirectory(hierarchy, '/');
  return hierarchy.version === 1 ? existsSync(`${root}/release_agent`) : !existsSync(`${root}/cgroup.events`);
}

/** The ordinary cgroup that the mount shows as the root, as in a container: its limits are those of the node, too. */
export function containerRoot(hierarchy: CgroupHierarchy | undefined): { hierarchy: CgroupHierarchy; path: '/' } | undefined {
  return hierarchy === undefined || showsRootCgroup(hierarchy) ? undefined : { hierarchy, path: '/' };
}

/**
 * The mount of a hierarchy that shows most: a container with the host's tree has its own mount as well. Of equal mounts
 * the last one counts, which hides the others.
 */
function widest(mounts: readonly Mount[]): Mount | undefined {
  return mounts.reduce<Mount | undefined>(
    (best, mount) => (best === undefined || depth(mount.root) <= depth(best.root) ? mount : best),
    undefined,
  );
}

function depth(root: string): number {
  return root.split('/').reduce((sum, name) => sum + (name === '..' ? -1 : name === '' ? 0 : 1), 0);
}
