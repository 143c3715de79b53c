import type { DeviceSupply } from '../../../src/core/devices/allocate.js';
import { SliceIndex } from '../../../src/core/devices/device-pool.js';
import type { Device, DeviceClass, ResourceSlice } from '../../../src/core/devices/device.js';
import type { ClaimSpec, DeviceRequest, ExactRequest, ResourceClaim, SubRequest } from '../../../src/core/devices/resource-claim.js';
import type { NamedNode } from '../../../src/core/scheduling/node-affinity.js';

export const DRIVER = 'gpu.example.com';

export const node = (name = 'node-1', labels: Record<string, string> = {}): NamedNode => ({
  name,
  labels: new Map(Object.entries(labels)),
});

export function device(name: string, more: Partial<Device> & { model?: string } = {}): Device {
  const { model, ...fields } = more;
  return {
    name,
    attributes: new Map(model === undefined ? [] : [['model', { kind: 'string', value: model }]]),
    capacity: new Map(),
    taints: [],
    consumesCounters: [],
    nodes: { kind: 'none' },
    unsupported: undefined,
    ...fields,
  };
}

/** A pool of one slice on node-1. */
export function slice(
  devices: readonly Device[],
  more: Partial<ResourceSlice> & { poolName?: string; generation?: bigint; slices?: bigint } = {},
): ResourceSlice {
  const { poolName = 'pool-1', generation = 1n, slices = 1n, ...fields } = more;
  return {
    name: `${poolName}-${String(generation)}`,
    driver: DRIVER,
    pool: { name: poolName, generation, resourceSliceCount: slices },
    nodes: { kind: 'node', name: 'node-1' },
    devices,
    sharedCounters: [],
    ...fields,
  };
}

export const counters = (amounts: Record<string, bigint>): ReadonlyMap<string, bigint> => new Map(Object.entries(amounts));
export const consumes = (amounts: Record<string, bigint>, counterSet = 'card') => [{ counterSet, counters: counters(amounts) }];

export const GPU: DeviceClass = { name: 'gpu', selectors: [] };

export const exact = (more: Partial<ExactRequest> = {}): ExactRequest => ({
  deviceClassName: 'gpu',
  selectors: [],
  count: 1,
  adminAccess: false,
  tolerations: [],
  ...more,
});

export const ofModel =
  (model: string): ExactRequest['selectors'][number] =>
  ({ device: { attributes } }) =>
    attributes.get('model')?.value === model;

export const request = (name: string, more: Partial<ExactRequest> = {}): DeviceRequest => ({ kind: 'exactly', name, exactly: exact(more) });
export const firstOf = (name: string, ...subs: (Partial<SubRequest> & { name: string })[]): DeviceRequest => ({
  kind: 'firstAvailable',
  name,
  firstAvailable: subs.map((sub) => ({ ...exact(sub), name: sub.name })),
});

export const spec = (requests: readonly DeviceRequest[], more: Partial<ClaimSpec> = {}): ClaimSpec => ({
  requests,
  constraints: [],
  unsupported: undefined,
  ...more,
});

export const claim = (name: string, of: ClaimSpec, more: Partial<ResourceClaim> = {}): ResourceClaim => ({
  namespace: 'default',
  name,
  spec: of,
  ownerUid: undefined,
  isDeleting: false,
  allocation: undefined,
  reservedFor: [],
  ...more,
});

export const supply = (
  slices: readonly ResourceSlice[],
  inUse: readonly string[] = [],
  classes: readonly DeviceClass[] = [GPU],
): DeviceSupply => ({
  slices: new SliceIndex(slices),
  classes: new Map(classes.map((each) => [each.name, each])),
  inUse: new Set(inUse),
});
