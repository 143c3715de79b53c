// Where the volumes of a pod's claims are, or can be made (pkg/scheduler/framework/plugins/volumebinding, v1.36).
import { claimNameOf, ownerOf, waitsForPod, type ClusterVolumes, type PodVolume, type VolumeClaim } from '../../volumes/cluster-volumes.js';
import { findBindings, type BindingFailure } from '../../volumes/claim-binding.js';
import { matchesTerm } from '../node-affinity.js';
import type { SchedulerNode } from '../scheduler-node.js';
import type { SchedulerPod } from '../scheduler-pod.js';
import { unresolvable, type FilterPlugin } from './pod-filter.js';

const PLUGIN = 'VolumeBinding';
const NO_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const OTHER_NODES = "node(s) didn't match PersistentVolume's node affinity";
const FAILURES: Readonly<Record<BindingFailure, string>> = {
  'no-volume': "node(s) didn't find available persistent volumes to bind",
  'no-space': 'node(s) did not have enough free storage',
};

/** Bound claims are where their volumes are. A claim that is bound with its first pod needs a volume that can be there. */
export const volumeBinding: FilterPlugin = ({ pod, cluster }) => {
  const { volumes } = cluster;
  if (volumes === undefined || pod.volumes.length === 0) return undefined;
  const { state, bindable } = volumes;
  const claims = new Set<VolumeClaim>();
  const refuse = (reason: string): ReturnType<FilterPlugin> => {
    const refused = unresolvable(PLUGIN, reason);
    return { refused, check: () => refused };
  };
  for (const volume of pod.volumes) {
    const claim = usableClaim(pod, volume, state);
    if (typeof claim === 'string') return refuse(claim);
    claims.add(claim);
  }
  const bound = [...claims].filter(({ volumeName }) => volumeName !== '');
  const unbound = [...claims].filter(({ volumeName }) => volumeName === '');
  if (!unbound.every((claim) => waitsForPod(claim, state))) return refuse('pod has unbound immediate PersistentVolumeClaims');
  return {
    check: ({ node }) => {
      const reasons = [...boundReasons(bound, node, state), ...unboundReasons(unbound, node, bindable)];
      return reasons.length === 0 ? undefined : { plugin: PLUGIN, code: 'UnschedulableAndUnresolvable', reasons };
    },
  };
};

/** Or why the pod has to wait. */
function usableClaim(pod: SchedulerPod, volume: PodVolume, { claims }: ClusterVolumes): VolumeClaim | string {
  const name = claimNameOf(pod, volume);
  const quoted = JSON.stringify(name);
  const claim = claims.get(`${pod.namespace}/${name}`);
  if (claim === undefined)
    return volume.kind === 'ephemeral'
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : `persistentvolumeclaim ${quoted} not found`;
  if (claim.isLost) return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.volumeName)}`;
  if (claim.terminating) return `persistentvolumeclaim ${quoted} is being deleted`;
  if (volume.kind === 'ephemeral' && claim.ownerUid !== ownerOf(pod))
    return `PVC ${pod.namespace}/${name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`;
  return claim;
}

function boundReasons(claims: readonly VolumeClaim[], node: SchedulerNode, { volumes }: ClusterVolumes): readonly string[] {
  for (const { volumeName } of claims) {
    const volume = volumes.get(volumeName);
    if (volume === undefined) return [NO_VOLUME];
    if (volume.nodeTerms?.some((term) => matchesTerm(term, node)) === false) return [OTHER_NODES];
  }
  return [];
}

function unboundReasons(claims: readonly VolumeClaim[], node: SchedulerNode, state: ClusterVolumes): readonly string[] {
  if (claims.length === 0) return [];
  const found = findBindings(claims, node, state);
  return typeof found === 'string' ? [FAILURES[found]] : [];
}
