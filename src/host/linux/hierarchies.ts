import { existsSync, readFileSync } from 'node:fs';
import { cgroupDirectory, membership, pathBelowMount, type CgroupHierarchy } from '../../core/cgroup.js';
import { parseMountinfo, type Mount } from './mountinfo.js';

/** The cgroup hierarchies that evictd uses. undefined: not mounted, or the controller is switched off. */
export interface Hierarchies {
  readonly memory: CgroupHierarchy | undefined;
  readonly pids: CgroupHierarchy | undefined;
  /** Of v1: a cgroup of v2 is frozen in its own hierarchy. */
  readonly freezer: CgroupHierarchy | undefined;
  /** cgroup2, whichever controllers it has: cgroup.kill and cgroup.freeze need none. */
  readonly unified: CgroupHierarchy | undefined;
  /** Of v1, without a controller: where systemd keeps what it knows of its units, unless it has cgroup2. */
  readonly systemd: CgroupHierarchy | undefined;
}

/**
 * A controller belongs to v1 where a v1 hierarchy with it is mounted, else to v2 if v2 offers it: on a hybrid machine the cgroup2 mount is there
 * and has no controllers.
 *
 * @param unified  the controllers that a cgroup2 mount offers (its cgroup.controllers)
 */
export function findHierarchies(mounts: readonly Mount[], unified: (mountPoint: string) => readonly string[]): Hierarchies {
  const v2 = widest(mounts.filter((mount) => mount.type === 'cgroup2'));
  const findV1 = (controller: string): CgroupHierarchy | undefined => {
    const v1 = widest(mounts.filter((mount) => mount.type === 'cgroup' && mount.options.includes(controller)));
    return v1 && { version: 1, controller, mountPoint: v1.mountPoint, root: v1.root };
  };
  const whole = v2 && ({ version: 2, controller: '', mountPoint: v2.mountPoint, root: v2.root } as const);
  const find = (controller: string): CgroupHierarchy | undefined =>
    findV1(controller) ?? (whole && unified(whole.mountPoint).includes(controller) ? whole : undefined);
  return { memory: find('memory'), pids: find('pids'), freezer: findV1('freezer'), unified: whole, systemd: findV1('name=systemd') };
}

export function readHierarchies(): Hierarchies {
  return findHierarchies(parseMountinfo(readFileSync('/proc/self/mountinfo', 'utf8')), (mountPoint) => {
    try {
      return readFileSync(`${mountPoint}/cgroup.controllers`, 'utf8').trim().split(' ');
    } catch {
      return []; // hidden by another mount, or not allowed: the same as not mounted
    }
  });
}

/** Where this process is in the memory hierarchy, below the mount; undefined where that is hidden by a namespace, or outside the mount. */
export function ownMemoryCgroup(hierarchy: CgroupHierarchy): string | undefined {
  const kernelPath = membership(readFileSync('/proc/self/cgroup', 'utf8'), hierarchy);
  return kernelPath === undefined ? undefined : pathBelowMount(kernelPath, hierarchy);
}

/**
 * Whether the mount shows the machine's root cgroup. In a container it may show a part: its root is then an ordinary cgroup, with other files. From inside
 * a cgroup namespace mountinfo does not tell, the files that only the root has or lacks do.
 */
export function showsRootCgroup(hierarchy: CgroupHierarchy): boolean {
  const root = cgroupDirectory(hierarchy, '/');
  return hierarchy.version === 1 ? existsSync(`${root}/release_agent`) : !existsSync(`${root}/cgroup.events`);
}

/** Of several mounts of one hierarchy the one that shows most: a container that was given the host's tree has its own as well. Of equals the last, which hides the others at one place. */
function widest(mounts: readonly Mount[]): Mount | undefined {
  return mounts.reduce<Mount | undefined>(
    (best, mount) => (best === undefined || depth(mount.root) <= depth(best.root) ? mount : best),
    undefined,
  );
}

function depth(root: string): number {
  return root.split('/').reduce((sum, name) => sum + (name === '..' ? -1 : name === '' ? 0 : 1), 0);
}
