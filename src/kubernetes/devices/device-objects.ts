import type { DeviceClass, ResourceSlice } from '../../core/devices/device.js';
import { SliceIndex } from '../../core/devices/device-pool.js';
import type { ClusterDevices } from '../../core/devices/pod-claims.js';
import { claimKey, type ClaimSpec, type ResourceClaim } from '../../core/devices/resource-claim.js';
import { isAbsent, member, textOf, type Field } from '../document.js';
import { claimTemplateAt, resourceClaimAt } from './claim-document.js';
import { deviceClassAt, resourceSliceAt } from './slice-document.js';

/** apiVersions whose objects have the form of v1. */
export const DEVICE_API_VERSIONS = ['resource.k8s.io/v1', 'resource.k8s.io/v1beta2'];

type Take = (objects: DeviceObjects, object: Field) => readonly string[];

/** Readers by kind. Each returns what is not simulated of the object. */
const TAKE: Readonly<Record<string, Take>> = {
  ResourceClaim: (objects, object) => objects.takeClaim(resourceClaimAt(object)),
  ResourceClaimTemplate: (objects, object) => objects.takeTemplate(...claimTemplateAt(object)),
  DeviceClass: (objects, object) => objects.takeClass(deviceClassAt(object), member(object, 'spec')),
  ResourceSlice: (objects, object) => objects.takeSlice(resourceSliceAt(object)),
  DeviceTaintRule: () => ['its taint is not simulated: write the taint into the ResourceSlice'],
};

export const DEVICE_KINDS: readonly string[] = Object.keys(TAKE);

/** Collects the objects of resource.k8s.io of a cluster. The last one of a name counts. */
export class DeviceObjects {
  readonly #claims = new Map<string, ResourceClaim>();
  readonly #templates = new Map<string, ClaimSpec>();
  readonly #classes = new Map<string, DeviceClass>();
  readonly #slices = new Map<string, ResourceSlice>();

  /**
   * @returns what of the object is not simulated
   * @throws DocumentError  with the path of the problem
   */
  take(kind: string, object: Field): readonly string[] {
    return (Object.hasOwn(TAKE, kind) ? TAKE[kind] : undefined)?.(this, object) ?? [];
  }

  takeClaim(claim: ResourceClaim): readonly string[] {
    this.#claims.set(claimKey(claim), claim);
    return claim.spec.unsupported === undefined ? [] : [claim.spec.unsupported];
  }

  takeTemplate(key: string, spec: ClaimSpec): readonly string[] {
    this.#templates.set(key, spec);
    return spec.unsupported === undefined ? [] : [spec.unsupported];
  }

  takeClass(deviceClass: DeviceClass, spec: Field): readonly string[] {
    this.#classes.set(deviceClass.name, deviceClass);
    const name = member(spec, 'extendedResourceName');
    return isAbsent(name) ? [] : [`extendedResourceName is not simulated: a request for ${textOf(name)} finds no device of this class`];
  }

  takeSlice(slice: ResourceSlice): readonly string[] {
    this.#slices.set(slice.name, slice);
    const features = new Set(slice.devices.flatMap(({ unsupported }) => unsupported ?? []));
    return [...features].map((feature) => `devices with ${feature} are never allocated: this is not simulated`);
  }

  devices(): ClusterDevices {
    return { slices: new SliceIndex([...this.#slices.values()]), classes: this.#classes, templates: this.#templates, claims: this.#claims };
  }
}
