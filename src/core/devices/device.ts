// Devices as their drivers publish them (resource.k8s.io/v1: ResourceSlice, DeviceClass; Kubernetes v1.36).
import type { Taint } from '../disruption/taint.js';
import type { Quantity } from '../quantity/quantity.js';
import type { NodeSelectorTerm } from '../scheduling/node-affinity.js';

/** DeviceAttribute. */
export type AttributeValue =
  | { readonly kind: 'string' | 'version'; readonly value: string }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'bool'; readonly value: boolean };

/** `none`: none of the fields is set, or the API has a new one. */
export type NodeSelection =
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'selector'; readonly terms: readonly NodeSelectorTerm[] }
  | { readonly kind: 'none' };

/** Amounts × 10⁹ by the name of a counter. */
export type Counters = ReadonlyMap<string, bigint>;

export interface Device {
  readonly name: string;
  /** Attributes by qualified name as written; without a domain it is the driver's. */
  readonly attributes: ReadonlyMap<string, AttributeValue>;
  /** As `attributes`. */
  readonly capacity: ReadonlyMap<string, Quantity>;
  /** NoSchedule and NoExecute: other effects, such as None, keep no claim away. */
  readonly taints: readonly Taint[];
  /** Consumed counters, per counter set of the same pool. */
  readonly consumesCounters: readonly { readonly counterSet: string; readonly counters: Counters }[];
  /** The nodes of a device whose slice has perDeviceNodeSelection. */
  readonly nodes: NodeSelection;
  /** It needs a feature that is not in: it is never allocated. */
  readonly unsupported: string | undefined;
}

export interface ResourceSlice {
  readonly name: string;
  readonly driver: string;
  readonly pool: { readonly name: string; readonly generation: bigint; readonly resourceSliceCount: bigint };
  readonly nodes: NodeSelection | { readonly kind: 'perDevice' };
  readonly devices: readonly Device[];
  readonly sharedCounters: readonly { readonly name: string; readonly counters: Counters }[];
}

/** Driver, pool and device: 'gpu.example.com/node-1/gpu-0'. */
export type DeviceId = string;

export interface PublishedDevice {
  readonly slice: ResourceSlice;
  readonly device: Device;
  readonly id: DeviceId;
}

export function deviceId(driver: string, pool: string, device: string): DeviceId {
  return `${driver}/${pool}/${device}`;
}

/**
 * A compiled CEL expression of a selector.
 *
 * @throws SelectorError  if the expression does not compile, cannot be evaluated on this device, or is not a boolean
 */
export type DeviceSelector = (published: PublishedDevice) => boolean;

/** `compile`: on every device. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';

  constructor(
    readonly stage: 'compile' | 'runtime',
    message: string,
  ) {
    super(message);
  }
}

/** DeviceClass. Its `config` is for the driver, and does not count for an allocation. */
export interface DeviceClass {
  readonly name: string;
  readonly selectors: readonly DeviceSelector[];
}
