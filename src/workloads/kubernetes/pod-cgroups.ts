import { attempt } from '../../errors.js';
import { subdirectoriesIn } from '../../byte-paths.js';
import { API_SERVER } from '../../core/kubernetes/kubernetes-part.js';
import type { NodePod } from '../../core/kubernetes/node-pod.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { isPodsCgroup } from '../../core/workload/cri-cgroup.js';
import type { NodePods } from '../../monitor/ports/node-pods.js';
import type { CgroupNames } from '../cgroup/cgroup-names.js';
import { cgroupsBelow } from '../cgroup/cgroups-below.js';
import type { Reported, Reporter } from '../cri/reported-workloads.js';

/**
 * The pods of the API server that have a cgroup on this node: one below the cgroup of all pods that bears the pod's uid
 * (pkg/kubelet/cm, pod_container_manager_linux.go, v1.36.2). Only names that root gave count.
 */
export class PodCgroups implements Reporter {
  readonly endpoint = API_SERVER;
  /** Cgroups of all pods, outermost. */
  #roots: readonly string[] = [];
  #joined: readonly NodePod[] = [];
  #found: readonly Reported[] = [];
  /** A pod that may run has no known cgroup: every pass lists the cgroups of pods. */
  #isIncomplete = true;

  constructor(
    private readonly pods: NodePods,
    private readonly hierarchy: CgroupHierarchy,
    private readonly names: CgroupNames,
  ) {}

  workloads(): readonly Reported[] {
    const pods = this.pods.pods();
    if (pods === this.#joined && !this.#isIncomplete) return this.#found;
    const cgroups = this.#byUid();
    const running = pods.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed');
    const byPath = new Map<string, Reported>();
    this.#isIncomplete = false;
    for (const pod of running) {
      const path = cgroups.get(pod.cgroupUid);
      if (path === undefined) this.#isIncomplete = true;
      // A mirror pod, which names another uid, must not take the cgroup of the pod with that uid.
      else if (!byPath.has(path) || pod.uid === pod.cgroupUid) byPath.set(path, { name: `${pod.namespace}/${pod.name}`, path, pod });
    }
    const found = [...byPath.values()];
    this.#joined = pods;
    const isSame =
      found.length === this.#found.length &&
      found.every(({ path, pod }, at) => this.#found[at]?.path === path && this.#found[at].pod === pod);
    if (!isSame) this.#found = found;
    return this.#found;
  }

  /** Lists much of the tree, while a pod has no known cgroup. */
  search(): void {
    if (this.#isIncomplete) this.#roots = [...cgroupsBelow('', this.hierarchy, this.names, isPodsCgroup)].filter(isPodsCgroup);
  }

  get hasReported(): boolean {
    return this.pods.hasReported;
  }

  problem(): ReturnType<NodePods['problem']> {
    return this.pods.problem();
  }

  /** Paths by uid. If two cgroups have the same uid, neither counts. */
  #byUid(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    const twice = new Set<string>();
    const left = [...this.#roots];
    for (let above = left.pop(); above !== undefined; above = left.pop()) {
      if (!this.names.isOwnedByRoot(above)) continue;
      for (const name of this.#children(above)) {
        const path = `${above}/${name}`;
        const uid = uidOf(name);
        if (isPodsCgroup(path)) left.push(path);
        else if (uid !== undefined && found.has(uid)) twice.add(uid);
        else if (uid !== undefined) found.set(uid, path);
      }
    }
    for (const uid of twice) found.delete(uid);
    return found;
  }

  #children(path: string): readonly string[] {
    return attempt(() => subdirectoriesIn(cgroupDirectory(this.hierarchy, path))) ?? []; // removed meanwhile
  }
}

/** 'podUID'; systemd: 'kubepods-burstable-podUID.slice' with _ for -. undefined: not the cgroup of a pod. */
function uidOf(name: string): string | undefined {
  const [, slice] = /-pod([^-]+)\.slice$/.exec(name) ?? [];
  if (slice !== undefined) return slice.replaceAll('_', '-');
  return /^pod([^.]+)$/.exec(name)?.[1];
}
