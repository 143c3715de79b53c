import { attempt } from '../../errors.js';
import { subdirectoriesIn } from '../../byte-paths.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { isPodsCgroup } from '../../core/workload/cri-cgroup.js';
import type { CgroupNames } from './cgroup-names.js';

/** For kind (/system.slice/docker-ID.scope/kubelet.slice/kubelet-kubepods.slice), also within another container. */
const DEEPEST = 6;
const MAX_CGROUPS = 4096;

/** The cgroups of all pods below a cgroup, outermost: those whose names root gave. '/' is written ''. */
export function* podsCgroupsBelow(above: string, hierarchy: CgroupHierarchy, names: Pick<CgroupNames, 'isOwnedByRoot'>): Generator<string> {
  const left = [{ path: above, depth: 0 }];
  for (let seen = 0, next = left.shift(); next !== undefined && seen < MAX_CGROUPS; seen += 1, next = left.shift()) {
    if (next.depth >= DEEPEST || !names.isOwnedByRoot(next.path)) continue;
    for (const name of attempt(() => subdirectoriesIn(cgroupDirectory(hierarchy, next?.path ?? ''))) ?? []) {
      const path = `${next.path}/${name}`;
      if (isPodsCgroup(path)) yield path;
      else left.push({ path, depth: next.depth + 1 });
    }
  }
}
