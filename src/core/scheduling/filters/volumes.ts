// Volumes of claims (pkg/scheduler/framework/plugins: volumerestrictions, volumezone, nodevolumelimits, v1.36).
import type { Attachment, VolumeLedger } from '../../volumes/volume-ledger.js';
import type { NodeState } from '../cluster/node-state.js';
import type { SchedulerNode } from '../scheduler-node.js';
import type { SchedulerPod } from '../scheduler-pod.js';
import { unresolvable, unschedulable, type FilterPlugin } from './pod-filter.js';

const IN_USE = unschedulable(
  'VolumeRestrictions',
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
);

/** A claim for one pod is in use, on whatever node. Claims that are made for a pod have no other user. */
export const volumeRestrictions: FilterPlugin = ({ pod, cluster }) => {
  const claims = cluster.volumes?.state.claims;
  const isForOnePod = (name: string): boolean => claims?.get(`${pod.namespace}/${name}`)?.accessModes.includes('ReadWriteOncePod') === true;
  const names = namedClaims(pod).filter(isForOnePod);
  if (names.length === 0) return undefined;
  const usesOf = (other: SchedulerPod): number => {
    if (other.namespace !== pod.namespace) return 0;
    const own = namedClaims(other);
    return names.filter((name) => own.includes(name)).length;
  };
  let uses = 0;
  for (const other of cluster.pods) uses += usesOf(other);
  return {
    check: () => (uses > 0 ? IN_USE : undefined),
    move: (other, _state, sign) => {
      uses += sign * usesOf(other);
    },
  };
};

function namedClaims({ volumes }: SchedulerPod): readonly string[] {
  return volumes.flatMap((volume) => (volume.kind === 'claim' ? [volume.claim] : []));
}

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
/** Topology labels, and the name that a node may have for each instead. */
const TOPOLOGY_KEYS: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', ZONE],
  ['failure-domain.beta.kubernetes.io/region', REGION],
  [ZONE, ZONE],
  [REGION, REGION],
]);

const NO_ZONE = unresolvable('VolumeZone', 'node(s) had no available volume zone');

/** The labels of a volume name its zones. A node without any such label may have it. Claims that are made for pods do not count. */
export const volumeZone: FilterPlugin = ({ pod, cluster }) => {
  const state = cluster.volumes?.state;
  const zones = namedClaims(pod).flatMap((name) => {
    const labels = state?.volumes.get(state.claims.get(`${pod.namespace}/${name}`)?.volumeName ?? '')?.labels;
    return [...TOPOLOGY_KEYS].flatMap(([key, otherKey]) => zonesOf(labels?.get(key)).map((values) => ({ key, otherKey, values })));
  });
  if (zones.length === 0) return undefined;
  const hasZone = ({ labels: own }: SchedulerNode): boolean => [...TOPOLOGY_KEYS.keys()].some((key) => own.has(key));
  return {
    check: ({ node }) => {
      const { labels } = node;
      const isThere = zones.every(({ key, otherKey, values }) => values.includes(labels.get(key) ?? labels.get(otherKey) ?? ''));
      return !hasZone(node) || isThere ? undefined : NO_ZONE;
    },
  };
};

/** 'a__b' are two zones. A label with an empty zone does not count (cloud-provider/volume/helpers: LabelZonesToSet). */
function zonesOf(label: string | undefined): readonly (readonly string[])[] {
  const values = label?.split('__').map((zone) => zone.trim()) ?? [''];
  return values.includes('') ? [] : [values];
}

const TOO_MANY = unschedulable('NodeVolumeLimits', 'node(s) exceed max volume count');

/** A CSINode says how many volumes of a driver its node can have. A volume that is there already does not count again. */
export const nodeVolumeLimits: FilterPlugin = ({ pod, cluster }) => {
  const { volumes } = cluster;
  if (volumes === undefined || volumes.state.drivers.size === 0) return undefined;
  const wanted = volumes.attachmentsOf(pod);
  if (wanted.length === 0) return undefined;
  return { check: (node) => (exceedsLimit(node, wanted, volumes) ? TOO_MANY : undefined) };
};

function exceedsLimit({ node, pods }: NodeState, wanted: readonly Attachment[], volumes: VolumeLedger): boolean {
  return (volumes.state.drivers.get(node.name) ?? []).some(({ name, limit }) => {
    const added = new Set(wanted.flatMap(({ driver, volume }) => (driver === name ? [volume] : [])));
    if (limit === undefined || added.size === 0) return false;
    const attached = new Set<string>();
    for (const pod of pods) for (const { driver, volume } of volumes.attachmentsOf(pod)) if (driver === name) attached.add(volume);
    for (const volume of attached) added.delete(volume);
    return added.size > 0 && attached.size + added.size > limit;
  });
}
