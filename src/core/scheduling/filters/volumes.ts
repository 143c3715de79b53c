// Volumes of claims (pkg/scheduler/framework/plugins: volumerestrictions, volumebinding, volumezone, v1.36).
import { matchesTerm } from '../node-affinity.js';
import type { SchedulerNode } from '../scheduler-node.js';
import type { VolumeClaim } from '../scheduler-volumes.js';
import type { SchedulerPod } from '../scheduler-pod.js';
import { forGood, forNow, type FilterPlugin, type PlacementInput } from './pod-filter.js';

function claimsOf({ pod, cluster: { volumes } }: PlacementInput): readonly (VolumeClaim | undefined)[] {
  return volumes === undefined ? [] : pod.volumeClaims.map((name) => volumes.claims.get(`${pod.namespace}/${name}`));
}

const IN_USE = forNow('VolumeRestrictions', 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode');

/** A claim for one pod is in use, on whatever node. */
export const volumeRestrictions: FilterPlugin = (input) => {
  const { pod, cluster } = input;
  const names = pod.volumeClaims.filter((_name, index) => claimsOf(input)[index]?.isForOnePod === true);
  if (names.length === 0) return undefined;
  const usesOf = (other: SchedulerPod): number =>
    other.namespace === pod.namespace ? names.filter((name) => other.volumeClaims.includes(name)).length : 0;
  let uses = 0;
  for (const other of cluster.pods) uses += usesOf(other);
  return {
    check: () => (uses > 0 ? IN_USE : undefined),
    move: (other, _state, sign) => {
      uses += sign * usesOf(other);
    },
  };
};

const PLUGIN = 'VolumeBinding';
const NO_VOLUME = forGood(PLUGIN, 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
const OTHER_NODES = forGood(PLUGIN, "node(s) didn't match PersistentVolume's node affinity");

/** Bound claims are where their volumes are. A claim that is bound with its first pod may go anywhere. */
export const volumeBinding: FilterPlugin = (input) => {
  const { pod, cluster } = input;
  const { volumes } = cluster;
  if (volumes === undefined || pod.volumeClaims.length === 0) return undefined;
  const claims = claimsOf(input);
  const refuse = (reason: string): ReturnType<FilterPlugin> => {
    const refused = forGood(PLUGIN, reason);
    return { refused, check: () => refused };
  };
  for (const [index, name] of pod.volumeClaims.entries()) {
    const claim = claims[index];
    if (claim === undefined) return refuse(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    if (claim.terminating) return refuse(`persistentvolumeclaim ${JSON.stringify(name)} is being deleted`);
  }
  const isUnbound = (claim: VolumeClaim | undefined): boolean =>
    claim?.volumeName === '' && (claim.storageClassName === '' || volumes.immediateClasses.has(claim.storageClassName));
  if (claims.some(isUnbound)) return refuse('pod has unbound immediate PersistentVolumeClaims');
  const bound = claims.flatMap((claim) => (claim === undefined || claim.volumeName === '' ? [] : [volumes.volumes.get(claim.volumeName)]));
  return {
    check: ({ node }) => {
      for (const volume of bound) {
        if (volume === undefined) return NO_VOLUME;
        if (volume.nodeTerms?.some((term) => matchesTerm(term, node)) === false) return OTHER_NODES;
      }
      return undefined;
    },
  };
};

const ZONE_KEYS = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
];

const NO_ZONE = forGood('VolumeZone', 'node(s) had no available volume zone');

/** The labels of a volume name its zones. A node without any such label may have it. */
export const volumeZone: FilterPlugin = (input) => {
  const { volumes } = input.cluster;
  const labels = claimsOf(input).map((claim) => volumes?.volumes.get(claim?.volumeName ?? '')?.labels);
  const zones = labels.flatMap((own) =>
    ZONE_KEYS.flatMap((key) => {
      const value = own?.get(key);
      return value === undefined ? [] : [{ key, values: value.split('__') }];
    }),
  );
  if (zones.length === 0) return undefined;
  const hasZone = ({ labels: own }: SchedulerNode): boolean => ZONE_KEYS.some((key) => own.has(key));
  return {
    check: ({ node }) =>
      !hasZone(node) || zones.every(({ key, values }) => values.includes(node.labels.get(key) ?? '')) ? undefined : NO_ZONE,
  };
};
