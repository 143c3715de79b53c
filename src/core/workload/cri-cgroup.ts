import { containerScope } from './container-scope.js';

/**
 * Reports whether a container runtime with CRI names the cgroup of a container like this (containerd 1.7,
 * pkg/cri/server/helpers.go; CRI-O 1.30, internal/config/cgmgr), or a kubelet that of a pod or of a QoS class
 * (pkg/kubelet/cm, v1.36.2). Docker's and Podman's do not match. Those of `nerdctl run` and `ctr run` may.
 */
export function isCriCgroup(path: string): boolean {
  return containerScope(path) === undefined && (CONTAINER.test(path) || POD.test(path) || isPodsCgroup(path));
}

/**
 * Reports whether a kubelet gives this name to the cgroup of all its pods, or of a QoS class: `kubepods`, also below a
 * `--cgroup-root` (kind). Such a cgroup holds many workloads, which the kubelet manages.
 */
export function isPodsCgroup(path: string): boolean {
  return PODS.test(path);
}

const CONTAINER = /\/(?:(?:cri-containerd|crio)-[0-9a-f]{64}\.scope|[0-9a-f]{64}(?:\.scope)?)$/;
/** The uid of a static pod has no dashes. */
const POD = /\/(?:(?:[^/]*-)?kubepods[^/]*-pod[^/]+\.slice|pod[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})$/;
const PODS =
  /\/(?:(?:[^/]*-)?kubepods(?:-(?:guaranteed|burstable|besteffort))?\.slice|kubepods(?:\/(?:guaranteed|burstable|besteffort))?)$/;
