import { containerScope } from './container-scope.js';

/**
 * Whether a cgroup is called as a container runtime with CRI calls that of a container (containerd 1.7, pkg/cri/server/helpers.go; CRI-O 1.30, internal/config/cgmgr), or as a kubelet calls that of a pod
 * or of pods of one class (kubernetes, pkg/kubelet/cm, v1.36.2). Those of Docker and Podman are none, those of `nerdctl run` and `ctr run` may be called the same.
 */
export function isCriCgroup(path: string): boolean {
  return containerScope(path) === undefined && (CONTAINER.test(path) || POD.test(path) || PODS.test(path));
}

const CONTAINER = /\/(?:(?:cri-containerd|crio)-[0-9a-f]{64}\.scope|[0-9a-f]{64}(?:\.scope)?)$/;
/** Static pods have a uid without dashes. */
const POD = /\/(?:kubepods[^/]*-pod[^/]+\.slice|pod[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})$/;
const PODS = /\/kubepods(?:[^/]*\.slice|(?:\/burstable|\/besteffort)?)$/;
