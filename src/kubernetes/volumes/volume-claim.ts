// PersistentVolumeClaims and the volumes of pods that have them (v1, Kubernetes v1.36).
import { quantityValue } from '../../core/quantity/quantity.js';
import type { PodVolume, VolumeClaim, VolumeClaimSpec } from '../../core/volumes/cluster-volumes.js';
import { isAbsent, items, member, members, quantityOf, textOf, type Field } from '../document.js';
import { labelSelectorAt } from '../scheduling/label-selector.js';

/** @throws DocumentError  with the path of the problem */
export function volumeClaimAt(claim: Field): VolumeClaim {
  const [metadata, spec] = [member(claim, 'metadata'), member(claim, 'spec')];
  const owner = items(member(metadata, 'ownerReferences')).find((reference) => member(reference, 'controller').value === true);
  return {
    ...claimSpecAt(spec),
    namespace: textOf(member(metadata, 'namespace')) || 'default',
    name: textOf(member(metadata, 'name')),
    // In the API a claim that names no class has none: the default is set when it is made.
    storageClassName: textOf(member(spec, 'storageClassName')),
    ownerUid: owner && textOf(member(owner, 'uid')),
    volumeName: textOf(member(spec, 'volumeName')),
    selectedNode: textOf(member(member(metadata, 'annotations'), 'volume.kubernetes.io/selected-node')),
    isLost: textOf(member(member(claim, 'status'), 'phase')) === 'Lost',
    terminating: !isAbsent(member(metadata, 'deletionTimestamp')),
  };
}

/** The spec of a claim, or of the template of one. */
function claimSpecAt(spec: Field): VolumeClaimSpec {
  const className = member(spec, 'storageClassName');
  return {
    storageClassName: isAbsent(className) ? undefined : textOf(className),
    accessModes: items(member(spec, 'accessModes')).map(textOf),
    bytes: storageBytesAt(member(member(spec, 'resources'), 'requests')),
    isBlock: textOf(member(spec, 'volumeMode')) === 'Block',
    selector: labelSelectorAt(member(spec, 'selector')),
  };
}

/** `storage` of a list of resources, in bytes; 0n: not given. */
export function storageBytesAt(resources: Field): bigint {
  const storage = quantityOf(member(resources, 'storage'));
  return storage === undefined ? 0n : quantityValue(storage);
}

/** spec.volumes of a pod that have claims. */
export function podVolumesAt(spec: Field): readonly PodVolume[] {
  return items(member(spec, 'volumes')).flatMap((volume): readonly PodVolume[] => {
    const [claim, ephemeral] = [member(volume, 'persistentVolumeClaim'), member(volume, 'ephemeral')];
    if (!isAbsent(claim)) return [{ kind: 'claim', claim: textOf(member(claim, 'claimName')) }];
    if (isAbsent(ephemeral)) return [];
    const template = claimSpecAt(member(member(ephemeral, 'volumeClaimTemplate'), 'spec'));
    return [{ kind: 'ephemeral', volume: textOf(member(volume, 'name')), template }];
  });
}

/** Types of volumes that the scheduler gives to one pod of a node at a time (plugins/volumerestrictions). */
const EXCLUSIVE = ['gcePersistentDisk', 'awsElasticBlockStore', 'rbd', 'iscsi'];

/** What of the volumes of a pod is not simulated. */
export function unsimulatedVolumes(spec: Field): readonly string[] {
  return items(member(spec, 'volumes')).flatMap((volume) =>
    members(volume).flatMap(([type]) =>
      EXCLUSIVE.includes(type) ? [`spec.volumes: evictd ignores whether a disk of ${type} is in use on another node`] : [],
    ),
  );
}
