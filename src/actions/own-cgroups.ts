import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../core/cgroup.js';
import type { Binding, CgroupHandle } from '../native/binding.js';
import { compareMembers, cgroupOfFirst, type HeldCgroup } from './shared-cgroup.js';

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
    const highest = openHighest(search, cgroupOfFirst([pid], other) ?? '/');
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

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
