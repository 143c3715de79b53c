import { attempt } from '../../errors.js';
import { subdirectoriesIn } from '../../byte-paths.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { CgroupNames } from './cgroup-names.js';

/** The levels of kind (/system.slice/docker-ID.scope/kubelet.slice/kubelet-kubepods.slice), also within another container. */
const DEEPEST = 6;
const MAX_CGROUPS = 4096;

/**
 * The cgroups below one, breadth first, whose names root gave. '/' is written ''.
 *
 * @param isEnd  nothing below such a one is looked for
 * @param max  as many are listed
 */
export function* cgroupsBelow(
  above: string,
  hierarchy: CgroupHierarchy,
  names: Pick<CgroupNames, 'isOwnedByRoot'>,
  isEnd: (path: string) => boolean,
  max = MAX_CGROUPS,
): Generator<string> {
  const left = [{ path: above, depth: 0 }];
  for (let seen = 0, next = left.shift(); next !== undefined && seen < max; seen += 1, next = left.shift()) {
    const { path: parent, depth } = next;
    if (depth >= DEEPEST || !names.isOwnedByRoot(parent)) continue;
    for (const name of attempt(() => subdirectoriesIn(cgroupDirectory(hierarchy, parent))) ?? []) {
      const path = `${parent}/${name}`;
      yield path;
      if (!isEnd(path)) left.push({ path, depth: depth + 1 });
    }
  }
}
