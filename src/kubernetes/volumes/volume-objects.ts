// PersistentVolumes and the objects of storage.k8s.io/v1 (Kubernetes v1.36).
import { quantityValue } from '../../core/quantity/quantity.js';
import type {
  ClusterVolume,
  ClusterVolumes,
  NodeDriver,
  StorageCapacity,
  StorageClass,
  VolumeClaim,
} from '../../core/volumes/cluster-volumes.js';
import { integerOf, isAbsent, items, member, quantityOf, textOf, timeOf, type Field } from '../document.js';
import { labelsAt, labelSelectorAt, nodeSelectorTermsAt } from '../scheduling/label-selector.js';
import { storageBytesAt, volumeClaimAt } from './volume-claim.js';
import { nameOf } from '../scheduling/cluster-objects.js';

const STORAGE = 'storage.k8s.io/v1';

interface VolumeKind {
  readonly version: string;
  readonly take: (objects: VolumeObjects, object: Field) => void;
}

const KINDS: Readonly<Record<string, VolumeKind>> = {
  PersistentVolumeClaim: { version: 'v1', take: (objects, object) => objects.takeClaim(volumeClaimAt(object)) },
  PersistentVolume: { version: 'v1', take: (objects, object) => objects.takeVolume(clusterVolumeAt(object)) },
  StorageClass: { version: STORAGE, take: (objects, object) => objects.takeClass(storageClassAt(object)) },
  CSINode: { version: STORAGE, take: (objects, object) => objects.takeDrivers(nameOf(object), nodeDriversAt(object)) },
  CSIDriver: { version: STORAGE, take: (objects, object) => objects.takeDriver(object) },
  CSIStorageCapacity: { version: STORAGE, take: (objects, object) => objects.takeCapacity(nameOf(object), object) },
};

/** Kinds with their apiVersions. */
export const VOLUME_KINDS: readonly (readonly [kind: string, apiVersion: string])[] = Object.entries(KINDS).map(([kind, { version }]) => [
  kind,
  version,
]);

/** Collects the objects of a cluster that are about volumes. The last one of a name counts. */
export class VolumeObjects {
  readonly #claims = new Map<string, VolumeClaim>();
  readonly #volumes = new Map<string, ClusterVolume>();
  readonly #classes = new Map<string, StorageClass>();
  readonly #drivers = new Map<string, readonly NodeDriver[]>();
  readonly #capacities = new Map<string, StorageCapacity>();
  readonly #capacityDrivers = new Set<string>();

  /** @throws DocumentError  with the path of the problem */
  take(kind: string, object: Field): void {
    KINDS[kind]?.take(this, object);
  }

  takeClaim(claim: VolumeClaim): void {
    this.#claims.set(`${claim.namespace}/${claim.name}`, claim);
  }

  takeVolume(volume: ClusterVolume): void {
    this.#volumes.set(volume.name, volume);
  }

  takeClass(storageClass: StorageClass): void {
    this.#classes.set(storageClass.name, storageClass);
  }

  takeDrivers(node: string, drivers: readonly NodeDriver[]): void {
    this.#drivers.set(node, drivers);
  }

  takeDriver(driver: Field): void {
    if (member(member(driver, 'spec'), 'storageCapacity').value === true) this.#capacityDrivers.add(nameOf(driver));
  }

  takeCapacity(name: string, object: Field): void {
    this.#capacities.set(`${textOf(member(member(object, 'metadata'), 'namespace'))}/${name}`, storageCapacityAt(object));
  }

  /** undefined: the files have no claims, or claims are bound to volumes and there is none. They do not say where pods may run. */
  volumes(): ClusterVolumes | undefined {
    const isBound = [...this.#claims.values()].some(({ volumeName }) => volumeName !== '');
    if (this.#claims.size === 0 || (isBound && this.#volumes.size === 0)) return undefined;
    return {
      ...{ claims: this.#claims, volumes: this.#volumes, classes: this.#classes, drivers: this.#drivers },
      ...{ capacities: [...this.#capacities.values()], capacityDrivers: this.#capacityDrivers },
    };
  }
}

function clusterVolumeAt(volume: Field): ClusterVolume {
  const [metadata, spec] = [member(volume, 'metadata'), member(volume, 'spec')];
  const [csi, claim] = [member(spec, 'csi'), member(spec, 'claimRef')];
  const phase = textOf(member(member(volume, 'status'), 'phase'));
  return {
    name: nameOf(volume),
    labels: labelsAt(member(metadata, 'labels')),
    nodeTerms: nodeSelectorTermsAt(member(member(spec, 'nodeAffinity'), 'required')),
    storageClassName: textOf(member(spec, 'storageClassName')),
    accessModes: items(member(spec, 'accessModes')).map(textOf),
    bytes: storageBytesAt(member(spec, 'capacity')),
    isBlock: textOf(member(spec, 'volumeMode')) === 'Block',
    csi: isAbsent(csi) ? undefined : { driver: textOf(member(csi, 'driver')), handle: textOf(member(csi, 'volumeHandle')) },
    claim: isAbsent(claim) ? undefined : `${textOf(member(claim, 'namespace'))}/${textOf(member(claim, 'name'))}`,
    isAvailable: (phase === '' || phase === 'Available') && isAbsent(member(metadata, 'deletionTimestamp')),
  };
}

const IS_DEFAULT = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

function storageClassAt(storageClass: Field): StorageClass {
  const metadata = member(storageClass, 'metadata');
  return {
    name: nameOf(storageClass),
    provisioner: textOf(member(storageClass, 'provisioner')),
    isImmediate: textOf(member(storageClass, 'volumeBindingMode')) !== 'WaitForFirstConsumer',
    topologies: items(member(storageClass, 'allowedTopologies')).map((term) => ({
      expressions: items(member(term, 'matchLabelExpressions')).map((expression) => ({
        ...{ key: textOf(member(expression, 'key')), operator: 'In' },
        values: items(member(expression, 'values')).map(textOf),
      })),
      fields: [],
    })),
    isDefault: IS_DEFAULT.some((name) => textOf(member(member(metadata, 'annotations'), name)) === 'true'),
    createdNs: timeOf(member(metadata, 'creationTimestamp')) ?? 0n,
  };
}

/** The drivers of a CSINode. */
function nodeDriversAt(node: Field): readonly NodeDriver[] {
  return items(member(member(node, 'spec'), 'drivers')).map((driver) => {
    const count = integerOf(member(member(driver, 'allocatable'), 'count'), 'int32');
    return {
      name: textOf(member(driver, 'name')),
      limit: count === undefined ? undefined : Number(count),
      topologyKeys: items(member(driver, 'topologyKeys')).map(textOf),
    };
  });
}

function storageCapacityAt(capacity: Field): StorageCapacity {
  const largest = quantityOf(member(capacity, 'maximumVolumeSize')) ?? quantityOf(member(capacity, 'capacity'));
  return {
    storageClassName: textOf(member(capacity, 'storageClassName')),
    nodes: labelSelectorAt(member(capacity, 'nodeTopology')),
    bytes: largest && quantityValue(largest),
  };
}
