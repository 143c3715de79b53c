import { readFileSync } from 'node:fs';
import { cgroupDirectory, isBelow, membership, pathBelowMount, withAncestors, type CgroupHierarchy } from '../core/cgroup.js';
import type { Binding, CgroupHandle } from '../native/binding.js';

/** A victim in the hierarchy that it is known by. */
export interface HeldCgroup {
  readonly handle: CgroupHandle;
  readonly hierarchy: CgroupHierarchy;
  readonly path: string;
}

/**
 * The lowest cgroup of another hierarchy that holds every process of the victim and nobody else, opened: what is done to it is done to the victim alone.
 * undefined: they share none, or it is not known. Never the root.
 */
export function openSharedCgroup(native: Binding, victim: HeldCgroup, other: CgroupHierarchy): CgroupHandle | undefined {
  const members = victim.handle.processes();
  if (members.some((pid) => pid <= 1)) return undefined; // without a number here they cannot be compared
  for (const path of withAncestors(placeOfFirst(members, other) ?? '/')) {
    if (path === '/') return undefined;
    const handle = new native.CgroupHandle(cgroupDirectory(other, path));
    let found = false;
    try {
      const holds = compare(handle, members, victim);
      found = holds === 'the victim';
      if (found) return handle;
      if (holds === 'others') return undefined; // and so does all above it
    } finally {
      if (!found) handle.close(); // comparing needs descriptors, and throws where a fork bomb has left none
    }
  }
  return undefined;
}

/** The victim is read before and after the other: who is born in between is in the second reading. Whoever is in neither is asked for, and may have ended. */
export function compare(handle: CgroupHandle, before: readonly number[], victim: HeldCgroup): 'the victim' | 'others' | 'a part' {
  const listed = new Set(handle.processes());
  const after = new Set(victim.handle.processes());
  const known = new Set([...before, ...after]);
  for (const pid of listed) if (!known.has(pid) && !belongs(pid, victim)) return 'others';
  return before.every((pid) => listed.has(pid) || !after.has(pid)) ? 'the victim' : 'a part';
}

function belongs(pid: number, { hierarchy, path }: HeldCgroup): boolean {
  if (pid <= 1) return false;
  const text = procCgroup(pid);
  if (text === undefined) return true; // nobody any more
  const kernelPath = membership(text, hierarchy);
  const place = kernelPath === undefined ? undefined : pathBelowMount(kernelPath, hierarchy);
  return place !== undefined && (place === path || isBelow(place, path));
}

/** Where the first of them lives that has not ended. */
export function placeOfFirst(pids: readonly number[], hierarchy: CgroupHierarchy): string | undefined {
  for (const pid of pids) {
    const text = procCgroup(pid);
    if (text === undefined) continue;
    const kernelPath = membership(text, hierarchy);
    if (kernelPath !== undefined && kernelPath !== '/') return pathBelowMount(kernelPath, hierarchy);
  }
  return undefined;
}

/** undefined: it has ended. v1 says '/' of one that is just ending. */
function procCgroup(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${String(pid)}/cgroup`, 'latin1');
  } catch {
    return undefined;
  }
}
