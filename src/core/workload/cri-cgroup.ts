import { withAncestors } from './cgroup.js';
import { containerScope } from './container-scope.js';

/**
 * Reports whether a container runtime with CRI names the cgroup of a container like this, or a kubelet that of a pod or
 * of a QoS class (pkg/kubelet/cm, v1.36.2). An id alone may also be a container of Docker, `nerdctl run` or `ctr run`.
 */
export function isCriCgroup(path: string): boolean {
  const engines = containerScope(path)?.engines ?? [];
  return engines.includes('containerd') || engines.includes('cri-o') || POD.test(path) || isPodsCgroup(path);
}

/**
 * Reports whether a kubelet gives this name to the cgroup of all its pods, or of a QoS class: `kubepods`, also below a
 * `--cgroup-root` (kind). Such a cgroup holds many workloads, which the kubelet manages.
 */
export function isPodsCgroup(path: string): boolean {
  return PODS.test(path);
}

/** Reports whether a cgroup is, or is inside of, the cgroup of all pods of a kubelet: a pod, a container, or what it started. */
export function isInPodsCgroup(path: string): boolean {
  return withAncestors(path).some(isPodsCgroup);
}

/** The uid of a static pod has no dashes. */
const POD = /\/(?:(?:[^/]*-)?kubepods[^/]*-pod[^/]+\.slice|pod[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})$/;
const PODS =
  /\/(?:(?:[^/]*-)?kubepods(?:-(?:guaranteed|burstable|besteffort))?\.slice|kubepods(?:\/(?:guaranteed|burstable|besteffort))?)$/;
