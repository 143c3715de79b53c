// What pods ask for and what was given to them (resource.k8s.io/v1: ResourceClaim, ResourceClaimTemplate; v1.36).
import type { NodeSelectorTerm } from '../scheduling/node-affinity.js';
import type { Toleration } from '../disruption/toleration.js';
import type { DeviceSelector } from './device.js';

/** ExactDeviceRequest or DeviceSubRequest. */
export interface ExactRequest {
  readonly deviceClassName: string;
  readonly selectors: readonly DeviceSelector[];
  /** ExactCount with its count, or All. */
  readonly count: number | 'all';
  readonly adminAccess: boolean;
  /** Tolerations without tolerationSeconds, which count for evictions only. */
  readonly tolerations: readonly Toleration[];
}

export interface SubRequest extends ExactRequest {
  readonly name: string;
}

export type DeviceRequest =
  | { readonly kind: 'exactly'; readonly name: string; readonly exactly: ExactRequest }
  | { readonly kind: 'firstAvailable'; readonly name: string; readonly firstAvailable: readonly SubRequest[] };

/** DeviceConstraint, on the devices of all requests of a claim, or of those named ('gpu', or 'gpu/large'). */
export interface DeviceConstraint {
  readonly kind: 'matchAttribute' | 'distinctAttribute';
  /** 'gpu.example.com/model' */
  readonly attribute: string;
  readonly requests: readonly string[];
}

/** DeviceRequestAllocationResult. */
export interface AllocatedDevice {
  /** The request; 'gpu/large' for one of a list. */
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly adminAccess: boolean;
}

/** AllocationResult. */
export interface Allocation {
  readonly devices: readonly AllocatedDevice[];
  /** Node terms of which one must match where pods use the claim. undefined: all nodes. */
  readonly nodeTerms: readonly NodeSelectorTerm[] | undefined;
}

/** ResourceClaimSpec. */
export interface ClaimSpec {
  readonly requests: readonly DeviceRequest[];
  readonly constraints: readonly DeviceConstraint[];
  /** A feature that it needs and that is not in. */
  readonly unsupported: string | undefined;
}

export interface ResourceClaim {
  readonly namespace: string;
  readonly name: string;
  readonly spec: ClaimSpec;
  /** The pod that it was made for, by uid; undefined: it was made by a user. */
  readonly ownerUid: string | undefined;
  readonly isDeleting: boolean;
  /** undefined: not yet. */
  readonly allocation: Allocation | undefined;
  /** Its consumers, by uid; a pod that is not in the API by namespace/name. */
  readonly reservedFor: readonly string[];
}

/** `namespace/name` */
export function claimKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** An entry of spec.resourceClaims. */
export interface PodClaim {
  readonly name: string;
  /** `template`: a claim of the pod's own; `generated` is its name, '' if it needs none, undefined if there is none yet. */
  readonly source:
    | { readonly kind: 'claim'; readonly name: string }
    | { readonly kind: 'template'; readonly name: string; readonly generated: string | undefined };
}
