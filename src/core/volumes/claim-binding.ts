// Which volumes claims get on a node (plugins/volumebinding/binder.go, component-helpers/storage/volume, v1.36).
import { selects } from '../scheduling/label-selector.js';
import { matchesTerm, type NamedNode } from '../scheduling/node-affinity.js';
import type { ClusterVolume, ClusterVolumes, StorageClass, VolumeClaim } from './cluster-volumes.js';

/** The provisioner of classes whose volumes are made by hand. */
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

export type BindingFailure =
  /** No volume exists that fits, and none can be made for this node. */
  | 'no-volume'
  /** The driver has not enough storage for the node. */
  | 'no-space';

/** Volumes that exist, by claim. For a claim that is left out a new one is made. */
export type Bindings = ReadonlyMap<VolumeClaim, ClusterVolume>;

/**
 * Finds a volume for each claim: the smallest that exists and fits, or else one to be made.
 *
 * @param claims  not bound yet
 * @param known  volumes that a claim is bound to may be left out
 * @param node  undefined: the claims are bound before their pods have nodes
 */
export function findBindings(
  claims: readonly VolumeClaim[],
  node: NamedNode | undefined,
  known: ClusterVolumes,
): Bindings | BindingFailure {
  if (claims.some(({ selectedNode }) => selectedNode !== '' && node !== undefined && selectedNode !== node.name)) return 'no-volume';
  const bindings = new Map<VolumeClaim, ClusterVolume>();
  const chosen = new Set<ClusterVolume>();
  for (const claim of [...claims].sort((one, other) => (one.bytes < other.bytes ? -1 : one.bytes > other.bytes ? 1 : 0))) {
    const volume = claim.selectedNode === '' ? matchingVolume(claim, node, known, chosen) : undefined;
    if (volume !== undefined) {
      chosen.add(volume);
      bindings.set(claim, volume);
    }
  }
  for (const claim of claims) {
    const failure = bindings.has(claim) ? undefined : provisionFailure(claim, node, known);
    if (failure !== undefined) return failure;
  }
  return bindings;
}

function matchingVolume(
  claim: VolumeClaim,
  node: NamedNode | undefined,
  { volumes }: ClusterVolumes,
  chosen: ReadonlySet<ClusterVolume>,
): ClusterVolume | undefined {
  const key = `${claim.namespace}/${claim.name}`;
  let smallest: ClusterVolume | undefined;
  for (const volume of volumes.values()) {
    if (chosen.has(volume) || volume.bytes < claim.bytes || volume.isBlock !== claim.isBlock) continue;
    const isReached = node === undefined || volume.nodeTerms === undefined || volume.nodeTerms.some((term) => matchesTerm(term, node));
    // A volume that names the claim is the only one for it.
    if (volume.claim === key) return isReached ? volume : undefined;
    if (isReached && isFor(volume, claim) && (smallest === undefined || volume.bytes < smallest.bytes)) smallest = volume;
  }
  return smallest;
}

function isFor(volume: ClusterVolume, { selector, storageClassName = '', accessModes }: VolumeClaim): boolean {
  if (volume.claim !== undefined || !volume.isAvailable || volume.storageClassName !== storageClassName) return false;
  return (selector === undefined || selects(selector, volume.labels)) && accessModes.every((mode) => volume.accessModes.includes(mode));
}

function provisionFailure(claim: VolumeClaim, node: NamedNode | undefined, known: ClusterVolumes): BindingFailure | undefined {
  if (claim.storageClassName === '') return 'no-volume';
  if (known.classes.size === 0) return undefined;
  const found = known.classes.get(claim.storageClassName ?? '');
  if (found === undefined || found.provisioner === '' || found.provisioner === NO_PROVISIONER) return 'no-volume';
  if (node === undefined) return undefined;
  if (found.topologies.length > 0 && !found.topologies.some((term) => matchesTerm(term, node))) return 'no-volume';
  return hasSpace(found, claim, node, known) ? undefined : 'no-space';
}

function hasSpace({ name, provisioner }: StorageClass, { bytes }: VolumeClaim, { labels }: NamedNode, known: ClusterVolumes): boolean {
  if (bytes === 0n || !known.capacityDrivers.has(provisioner)) return true;
  return known.capacities.some(
    (capacity) => capacity.storageClassName === name && (capacity.bytes ?? -1n) >= bytes && selects(capacity.nodes, labels),
  );
}
