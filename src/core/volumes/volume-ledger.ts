import type { NamedNode, NodeSelectorTerm } from '../scheduling/node-affinity.js';
import {
  claimNameOf,
  ownerOf,
  waitsForPod,
  type ClusterVolume,
  type ClusterVolumes,
  type StorageClass,
  type VolumeClaim,
  type VolumeClaimSpec,
  type VolumePod,
} from './cluster-volumes.js';
import { findBindings } from './claim-binding.js';

/** A volume of a CSI driver that a pod needs on its node. */
export interface Attachment {
  readonly driver: string;
  /** The name of the volume, the same for all pods that have it. */
  readonly volume: string;
}

const NO_ATTACHMENTS: readonly Attachment[] = [];

/** The claims and volumes of one cluster as pods come and go. It does what the controllers for volumes do. */
export class VolumeLedger {
  readonly #claims: Map<string, VolumeClaim>;
  readonly #volumes: Map<string, ClusterVolume>;
  readonly state: ClusterVolumes;
  /** The state without volumes that a claim is bound to, which most are. */
  readonly bindable: ClusterVolumes;
  readonly #unbound: Map<string, ClusterVolume>;
  /** Attachments of pods whose claims are all bound: they do not change. */
  readonly #attachments = new WeakMap<VolumePod, readonly Attachment[]>();

  constructor(from: ClusterVolumes) {
    this.#claims = new Map(from.claims);
    this.#volumes = new Map(from.volumes);
    this.state = { ...from, claims: this.#claims, volumes: this.#volumes };
    const isBound = ({ claim, name }: ClusterVolume): boolean => claim !== undefined && this.#claims.get(claim)?.volumeName === name;
    this.#unbound = new Map([...this.#volumes].filter(([, volume]) => !isBound(volume)));
    this.bindable = { ...this.state, volumes: this.#unbound };
  }

  /** The pod is new: the ephemeral volume controller makes its claims, and those that do not wait for its node are bound. */
  create(pod: VolumePod): void {
    const { namespace } = pod;
    for (const volume of pod.volumes) {
      const name = claimNameOf(pod, volume);
      if (volume.kind === 'claim' || this.#claims.has(`${namespace}/${name}`)) continue;
      const claim = {
        ...{ ...volume.template, namespace, name, storageClassName: this.#classOf(volume.template), ownerUid: ownerOf(pod) },
        ...{ volumeName: '', selectedNode: '', isLost: false, terminating: false },
      };
      this.#claims.set(keyOf(claim), claim);
      if (!waitsForPod(claim, this.state)) this.#bind([claim], undefined);
    }
  }

  /** The pod is bound to the node: so are its claims that waited for that. */
  reserve(pod: VolumePod, node: NamedNode): void {
    const claims = pod.volumes.map((volume) => this.#claims.get(`${pod.namespace}/${claimNameOf(pod, volume)}`));
    const waiting = claims.filter((claim): claim is VolumeClaim => claim?.volumeName === '' && waitsForPod(claim, this.state));
    if (waiting.length > 0) this.#bind([...new Set(waiting)], node);
  }

  /** The pod has ended: the claims that were made for it go, and their volumes with them. */
  release(pod: VolumePod): void {
    for (const volume of pod.volumes) {
      const key = `${pod.namespace}/${claimNameOf(pod, volume)}`;
      const claim = volume.kind === 'ephemeral' ? this.#claims.get(key) : undefined;
      if (claim?.ownerUid !== ownerOf(pod)) continue;
      this.#claims.delete(key);
      this.#volumes.delete(claim.volumeName);
    }
  }

  /** The attachments of a pod; for a claim that is not bound, those that its class would make. */
  attachmentsOf(pod: VolumePod): readonly Attachment[] {
    if (pod.volumes.length === 0) return NO_ATTACHMENTS;
    const known = this.#attachments.get(pod);
    if (known !== undefined) return known;
    const claims = pod.volumes.map((volume) => this.#claims.get(`${pod.namespace}/${claimNameOf(pod, volume)}`));
    const attachments = claims.flatMap((claim) => (claim === undefined ? [] : this.#attachmentsOf(claim)));
    if (claims.every((claim) => this.#volumes.has(claim?.volumeName ?? ''))) this.#attachments.set(pod, attachments);
    return attachments;
  }

  #attachmentsOf(claim: VolumeClaim): readonly Attachment[] {
    const volume = this.#volumes.get(claim.volumeName);
    if (volume !== undefined) return volume.csi === undefined ? [] : [{ driver: volume.csi.driver, volume: volume.csi.handle }];
    const driver = this.state.classes.get(claim.storageClassName ?? '')?.provisioner;
    return driver === undefined ? [] : [{ driver, volume: keyOf(claim) }];
  }

  /** The admission plugin DefaultStorageClass. undefined: no class is known. */
  #classOf({ storageClassName }: VolumeClaimSpec): string | undefined {
    const classes = [...this.state.classes.values()];
    const [first] = classes.filter(({ isDefault }) => isDefault).sort(byAge);
    return storageClassName ?? (classes.length === 0 ? undefined : (first?.name ?? ''));
  }

  /** Claims that find no volume stay as they are. */
  #bind(claims: readonly VolumeClaim[], node: NamedNode | undefined): void {
    const bindings = findBindings(claims, node, this.bindable);
    if (typeof bindings === 'string') return;
    for (const claim of claims) {
      const volume = bindings.get(claim) ?? this.#made(claim, node);
      this.#unbound.delete(volume.name);
      this.#volumes.set(volume.name, { ...volume, claim: keyOf(claim), isAvailable: false });
      this.#claims.set(keyOf(claim), { ...claim, volumeName: volume.name });
    }
  }

  /** The volume that the driver makes: for the nodes in the same topology. */
  #made(claim: VolumeClaim, node: NamedNode | undefined): ClusterVolume {
    const found = this.state.classes.get(claim.storageClassName ?? '');
    const driver = found?.provisioner;
    const name = `made for ${keyOf(claim)}`;
    const { storageClassName = '', accessModes, bytes, isBlock } = claim;
    return {
      ...{ name, labels: new Map<string, string>(), storageClassName, accessModes, bytes, isBlock, claim: undefined, isAvailable: false },
      csi: driver === undefined ? undefined : { driver, handle: keyOf(claim) },
      nodeTerms: node === undefined ? allowed(found?.topologies) : this.#topologyOf(driver, node),
    };
  }

  #topologyOf(driver: string | undefined, { name, labels }: NamedNode): readonly NodeSelectorTerm[] | undefined {
    const keys = this.state.drivers.get(name)?.find((each) => each.name === driver)?.topologyKeys ?? [];
    const expressions = keys.flatMap((key) => {
      const value = labels.get(key);
      return value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
    });
    return expressions.length === 0 ? undefined : [{ expressions, fields: [] }];
  }
}

function byAge(one: StorageClass, other: StorageClass): number {
  if (one.createdNs !== other.createdNs) return one.createdNs > other.createdNs ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}

function allowed(topologies: readonly NodeSelectorTerm[] = []): readonly NodeSelectorTerm[] | undefined {
  return topologies.length === 0 ? undefined : topologies;
}

function keyOf({ namespace, name }: VolumeClaim): string {
  return `${namespace}/${name}`;
}
