import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../core/cgroup.js';
import type { Binding, CgroupHandle } from '../native/binding.js';
import { compare, placeOfFirst, type HeldCgroup } from './shared-cgroup.js';

/**
 * The highest cgroups of another hierarchy that hold nobody but processes of the victim, opened: what is undone in them and below is undone for the victim
 * alone. Whoever of the victim lives among others is in none of them. Throws where the victim cannot be listed.
 */
export function openOwnCgroups(native: Binding, victim: HeldCgroup, other: CgroupHierarchy): CgroupHandle[] {
  const members = victim.handle.processes();
  if (members.some((pid) => pid <= 1)) return []; // without a number here they cannot be compared
  const search = { native, victim, members, other, foreign: new Set<string>() };
  const left = new Set(members);
  const own: CgroupHandle[] = [];
  for (const pid of left) {
    const highest = openHighest(search, placeOfFirst([pid], other) ?? '/');
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
  /** Paths that are known to hold others. */
  readonly foreign: Set<string>;
}

function openHighest(search: Search, path: string): CgroupHandle | undefined {
  let highest: CgroupHandle | undefined;
  for (const above of withAncestors(path)) {
    if (above === '/' || search.foreign.has(above)) break;
    // One that was removed meanwhile holds nobody; of a shortage of descriptors the caller has what was found before.
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
    isOwn = compare(handle, members, victim) !== 'others';
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
