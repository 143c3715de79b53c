import type { Labels } from './label-selector.js';
import type { NodeSelectorTerm } from './node-affinity.js';

/** v1.PersistentVolumeClaim. */
export interface VolumeClaim {
  /** '': not bound. */
  readonly volumeName: string;
  /** '': none. */
  readonly storageClassName: string;
  /** ReadWriteOncePod: no other pod uses it at the same time. */
  readonly isForOnePod: boolean;
  /** It is being deleted. */
  readonly terminating: boolean;
}

/** v1.PersistentVolume. */
export interface ClusterVolume {
  readonly labels: Labels;
  /** spec.nodeAffinity.required; undefined: every node reaches it. */
  readonly nodeTerms: readonly NodeSelectorTerm[] | undefined;
}

/** The claims and volumes of a cluster. Those of CSI drivers are bound when the pod has its node, and have room anywhere. */
export interface ClusterVolumes {
  /** By namespace/name. */
  readonly claims: ReadonlyMap<string, VolumeClaim>;
  readonly volumes: ReadonlyMap<string, ClusterVolume>;
  /** Names of the storage classes that bind a claim at once (volumeBindingMode Immediate). */
  readonly immediateClasses: ReadonlySet<string>;
}
