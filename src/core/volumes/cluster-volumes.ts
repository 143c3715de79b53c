// What a cluster says of storage: v1 PersistentVolumeClaim and PersistentVolume, storage.k8s.io/v1 (Kubernetes v1.36).
import type { LabelSelector, Labels } from '../scheduling/label-selector.js';
import type { NodeSelectorTerm } from '../scheduling/node-affinity.js';

/** What a claim asks for, or a volume has. */
export interface Storage {
  /** '': none. */
  readonly storageClassName: string;
  readonly accessModes: readonly string[];
  readonly bytes: bigint;
  /** volumeMode Block instead of Filesystem. */
  readonly isBlock: boolean;
}

/** The spec of a PersistentVolumeClaim, or of the template of one. */
export interface VolumeClaimSpec extends Omit<Storage, 'storageClassName'> {
  /** '': none; undefined: the default one, when the claim is made. */
  readonly storageClassName: string | undefined;
  /** The selector for existing volumes; undefined: any. */
  readonly selector: LabelSelector | undefined;
}

/** PersistentVolumeClaim. */
export interface VolumeClaim extends VolumeClaimSpec {
  readonly namespace: string;
  readonly name: string;
  /** The pod that it was made for, by uid; undefined: it was made by a user. */
  readonly ownerUid: string | undefined;
  /** '': not bound. */
  readonly volumeName: string;
  /** volume.kubernetes.io/selected-node; '': none. A volume is being made for this node. */
  readonly selectedNode: string;
  /** status.phase Lost: its volume is gone. */
  readonly isLost: boolean;
  /** It is being deleted. */
  readonly terminating: boolean;
}

/** PersistentVolume. */
export interface ClusterVolume extends Storage {
  readonly name: string;
  readonly labels: Labels;
  /** spec.nodeAffinity.required; undefined: every node reaches it. */
  readonly nodeTerms: readonly NodeSelectorTerm[] | undefined;
  /** spec.csi; undefined: another type. */
  readonly csi: { readonly driver: string; readonly handle: string } | undefined;
  /** spec.claimRef as namespace/name; undefined: no claim has it. */
  readonly claim: string | undefined;
  /** A claim may be bound to it: its phase is Available, and it is not being deleted. */
  readonly isAvailable: boolean;
}

export interface StorageClass {
  readonly name: string;
  readonly provisioner: string;
  /** volumeBindingMode Immediate: a claim is bound before a pod has its node. */
  readonly isImmediate: boolean;
  /** allowedTopologies: one must match; empty: all nodes. */
  readonly topologies: readonly NodeSelectorTerm[];
  /** Claims that name no class get it. Of several such classes the newest counts. */
  readonly isDefault: boolean;
  /** creationTimestamp in ns since 1970. */
  readonly createdNs: bigint;
}

/** A driver of a CSINode. */
export interface NodeDriver {
  readonly name: string;
  /** The most volumes of the driver on the node; undefined: no limit. */
  readonly limit: number | undefined;
  /** Labels of nodes that reach the same volumes. */
  readonly topologyKeys: readonly string[];
}

/** CSIStorageCapacity. */
export interface StorageCapacity {
  readonly storageClassName: string;
  /** undefined: no node. */
  readonly nodes: LabelSelector | undefined;
  /** The largest volume that can be made; undefined: none. */
  readonly bytes: bigint | undefined;
}

export interface ClusterVolumes {
  /** Claims by namespace/name. */
  readonly claims: ReadonlyMap<string, VolumeClaim>;
  readonly volumes: ReadonlyMap<string, ClusterVolume>;
  /** Empty: not known, and claims that are not bound may go anywhere. */
  readonly classes: ReadonlyMap<string, StorageClass>;
  /** CSINode by node. */
  readonly drivers: ReadonlyMap<string, readonly NodeDriver[]>;
  readonly capacities: readonly StorageCapacity[];
  /** Names of CSIDrivers whose `storageCapacity` says that capacities count. */
  readonly capacityDrivers: ReadonlySet<string>;
}

/** A volume of a pod that has a claim. `ephemeral`: the claim is made for the pod, as POD-VOLUME, and ends with it. */
export type PodVolume =
  | { readonly kind: 'claim'; readonly claim: string }
  | { readonly kind: 'ephemeral'; readonly volume: string; readonly template: VolumeClaimSpec };

export interface VolumePod {
  readonly namespace: string;
  readonly name: string;
  /** '': it is not in the API. */
  readonly uid: string;
  readonly volumes: readonly PodVolume[];
}

export function claimNameOf(pod: Pick<VolumePod, 'name'>, volume: PodVolume): string {
  return volume.kind === 'claim' ? volume.claim : `${pod.name}-${volume.volume}`;
}

/** How a claim knows the pod that it was made for. */
export function ownerOf({ namespace, name, uid }: Omit<VolumePod, 'volumes'>): string {
  return uid === '' ? `${namespace}/${name}` : uid;
}

/** Whether a claim is bound when a pod has its node. Without a known class it is bound before. */
export function waitsForPod({ storageClassName = '' }: VolumeClaimSpec, { classes }: Pick<ClusterVolumes, 'classes'>): boolean {
  if (classes.size === 0) return storageClassName !== '';
  return classes.get(storageClassName)?.isImmediate === false;
}
