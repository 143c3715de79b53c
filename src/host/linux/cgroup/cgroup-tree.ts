import { join } from 'node:path';
import { attempt } from '../../../errors.js';
import { subdirectoriesIn } from '../../../byte-paths.js';

/** A user may make cgroups without end in a scope of its own: a walk of so many takes some 30 ms. */
const MAX_CGROUPS = 1_000;

export interface CgroupDirectory {
  readonly directory: string;
  readonly isLeaf: boolean;
}

/**
 * The directory of a cgroup and those below it, a parent before its children. What is removed meanwhile is left out.
 *
 * @returns undefined: there are more than `most`
 */
export function cgroupTree(directory: string, most = MAX_CGROUPS): readonly CgroupDirectory[] | undefined {
  const found: CgroupDirectory[] = [];
  const waiting = [directory];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const children = childrenOf(next);
    if (children === undefined) continue;
    found.push({ directory: next, isLeaf: children.length === 0 });
    for (const name of children) waiting.push(join(next, name));
    if (found.length + waiting.length > most) return undefined;
  }
  return found;
}

function childrenOf(directory: string): readonly string[] | undefined {
  return attempt(() => subdirectoriesIn(directory)); // removed meanwhile
}
