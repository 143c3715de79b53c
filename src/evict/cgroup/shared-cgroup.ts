import { attempt, errnoName } from '../../errors.js';
import { cgroupDirectory, isBelow, membership, pathBelowMount, withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { Binding, CgroupHandle } from '../../native/binding.js';
import { namesText } from '../../byte-paths.js';

/** A victim, open, with its path in the memory hierarchy. */
interface HeldCgroup {
  readonly handle: CgroupHandle;
  readonly hierarchy: CgroupHierarchy;
  readonly path: string;
}

/**
 * Opens the lowest cgroup of another hierarchy that holds all processes of the victim and no others. undefined: there
 * is none, or it is unknown. Never the root. Throws if a cgroup or a process cannot be read.
 */
export function openSharedCgroup(
  native: Binding,
  victim: HeldCgroup,
  other: CgroupHierarchy,
): { readonly handle: CgroupHandle; readonly directory: string } | undefined {
  const members = victim.handle.processes();
  if (members.some((pid) => pid <= 1)) return undefined; // processes without a pid here cannot be compared
  for (const path of withAncestors(cgroupOfFirst(members, other) ?? '/')) {
    if (path === '/') return undefined;
    const directory = cgroupDirectory(other, path);
    const handle = new native.CgroupHandle(directory);
    let found = false;
    try {
      const holds = compareMembers(handle, members, victim);
      found = holds === 'the victim';
      if (found) return { handle, directory };
      if (holds === 'others') return undefined; // so do all cgroups above
    } finally {
      if (!found) handle.close(); // a fork bomb may have used up the descriptors that comparing needs
    }
  }
  return undefined;
}

/**
 * Opens the highest cgroups of another hierarchy that hold only processes of the victim: thawing them affects nothing
 * else. Processes of the victim that share a cgroup with others are in none of them. Throws if the victim cannot be
 * listed.
 */
export function openOwnCgroups(native: Binding, victim: HeldCgroup, other: CgroupHierarchy): CgroupHandle[] {
  const members = victim.handle.processes();
  if (members.some((pid) => pid <= 1)) return []; // processes without a pid here cannot be compared
  const search = { native, victim, members, other, foreign: new Set<string>() };
  const left = new Set(members);
  const own: CgroupHandle[] = [];
  for (const pid of left) {
    const highest = openHighest(search, attempt(() => cgroupOfFirst([pid], other)) ?? '/');
    if (highest === undefined) continue;
    own.push(highest);
    for (const inside of attempt(() => highest.processes()) ?? []) left.delete(inside);
  }
  return own;
}

interface Search {
  readonly native: Binding;
  readonly victim: HeldCgroup;
  readonly members: readonly number[];
  readonly other: CgroupHierarchy;
  /** Paths known to hold other processes. */
  readonly foreign: Set<string>;
}

function openHighest(search: Search, path: string): CgroupHandle | undefined {
  let highest: CgroupHandle | undefined;
  for (const above of withAncestors(path)) {
    if (above === '/' || search.foreign.has(above)) break;
    // A cgroup removed meanwhile holds none. If descriptors run out, the caller keeps what was found.
    const own = attempt(() => openOwn(search, above));
    if (own === undefined) break;
    highest?.close();
    highest = own;
  }
  return highest;
}

function openOwn({ native, victim, members, other, foreign }: Search, path: string): CgroupHandle | undefined {
  const handle = new native.CgroupHandle(cgroupDirectory(other, path));
  let isOwn = false;
  try {
    isOwn = compareMembers(handle, members, victim) !== 'others';
    if (isOwn) return handle;
    foreign.add(path);
    return undefined;
  } finally {
    if (!isOwn) handle.close();
  }
}

/**
 * Reads the victim before and after the other cgroup: a process born in between is in the second reading. A process in
 * neither is looked up; it may have ended.
 */
function compareMembers(handle: CgroupHandle, before: readonly number[], victim: HeldCgroup): 'the victim' | 'others' | 'a part' {
  const listed = new Set(handle.processes());
  const after = new Set(victim.handle.processes());
  const known = new Set([...before, ...after]);
  for (const pid of listed) if (!known.has(pid) && !belongs(pid, victim)) return 'others';
  return before.every((pid) => listed.has(pid) || !after.has(pid)) ? 'the victim' : 'a part';
}

/** Whether a process is in a cgroup or below it, or has ended. Throws if that is unknown: it may be a process of another workload. */
export function belongs(pid: number, { hierarchy, path }: Pick<HeldCgroup, 'hierarchy' | 'path'>): boolean {
  if (pid <= 1) return false;
  const text = procCgroup(pid);
  if (text === undefined) return true; // it has ended
  const kernelPath = membership(text, hierarchy);
  const place = kernelPath === undefined ? undefined : pathBelowMount(kernelPath, hierarchy);
  return place !== undefined && (place === path || isBelow(place, path));
}

/** The cgroup of the first process that lives. Throws if that is unknown. */
function cgroupOfFirst(pids: readonly number[], hierarchy: CgroupHierarchy): string | undefined {
  for (const pid of pids) {
    const text = procCgroup(pid);
    if (text === undefined) continue;
    const kernelPath = membership(text, hierarchy);
    if (kernelPath !== undefined && kernelPath !== '/') return pathBelowMount(kernelPath, hierarchy);
  }
  return undefined;
}

/** undefined: ended. On v1 an exiting process is in '/'. Throws if it cannot be read, for want of descriptors or memory say. */
export function procCgroup(pid: number | 'self'): string | undefined {
  try {
    return namesText(`/proc/${String(pid)}/cgroup`);
  } catch (error) {
    // open reports ENOENT for a process that was reaped, read reports ESRCH
    if (['ENOENT', 'ESRCH'].includes(errnoName(error) ?? '')) return undefined;
    throw error;
  }
}
