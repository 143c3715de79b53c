/** A mounted cgroup hierarchy, as this process sees it. */
export interface CgroupHierarchy {
  readonly version: 1 | 2;
  /** v1: the requested controller ('memory'); v2: '', as in /proc/PID/cgroup. */
  readonly controller: string;
  readonly mountPoint: string;
  /**
   * The cgroup at the mount point, as in /proc/PID/cgroup: '/', '/docker/4f1', or '/../..' if it lies above this
   * process's cgroup namespace.
   */
  readonly root: string;
}

/** Where the attributes of a cgroup may be set, too: on v1 systemd sets those of the cgroup in its own hierarchy. */
export function hierarchiesBeside(
  { version }: Pick<CgroupHierarchy, 'version'>,
  { unified, systemd }: { readonly unified: CgroupHierarchy | undefined; readonly systemd: CgroupHierarchy | undefined },
): readonly CgroupHierarchy[] {
  return version === 1 ? [unified, systemd].filter((one) => one !== undefined) : [];
}

/** @param path  below the mount point, as everywhere in evictd */
export function cgroupDirectory(hierarchy: CgroupHierarchy, path: string): string {
  return path === '/' ? hierarchy.mountPoint : hierarchy.mountPoint + path;
}

/** '/a/b/' → '/a/b', 'a//b' → '/a/b', '' → '/'. */
export function normalCgroupPath(path: string): string {
  return `/${namesIn(path).join('/')}`;
}

/** 'b' in '/a' → '/a/b', in '/' → '/b'. */
export function childPath(parent: string, name: string): string {
  return `${parent === '/' ? '' : parent}/${name}`;
}

/** Strictly below: a cgroup is not below itself. */
export function isBelow(path: string, ancestor: string): boolean {
  return path !== ancestor && path.startsWith(ancestor === '/' ? '/' : `${ancestor}/`);
}

/** The cgroup and its ancestors up to the mount point: '/a/b' → ['/a/b', '/a', '/']. */
export function withAncestors(path: string): string[] {
  const names = namesIn(path);
  return names.map((_, index) => `/${names.slice(0, names.length - index).join('/')}`).concat('/');
}

/**
 * The cgroup of a process from its /proc/PID/cgroup ("4:memory:/a/b", "0::/a/b" on v2), as the kernel names it:
 * relative to this process's cgroup namespace, with ' (deleted)' appended for a removed cgroup. undefined: no line for
 * this hierarchy.
 */
export function membership(procCgroup: string, hierarchy: CgroupHierarchy): string | undefined {
  for (const line of procCgroup.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/s.exec(line) ?? [];
    if (controllers?.split(',').includes(hierarchy.controller)) return path;
  }
  return undefined;
}

/**
 * `kernelPath` relative to the mount point. undefined: it lies outside the mount, or the names between the mount's root
 * and this process's cgroup namespace are hidden ('/../..' in mountinfo: the host's tree mounted into a container).
 */
export function pathBelowMount(kernelPath: string, hierarchy: CgroupHierarchy): string | undefined {
  const path = namesIn(kernelPath);
  const root = namesIn(hierarchy.root);
  const same = root.every((name, index) => path[index] === name);
  const rest = path.slice(root.length);
  return same && rest[0] !== '..' ? `/${rest.join('/')}` : undefined;
}

export function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}
