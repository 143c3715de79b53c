// The pools of devices that a node can use (dynamic-resource-allocation, structured: GatherPools, v1.36).
import { matchesTerm, type NamedNode } from '../scheduling/node-affinity.js';
import { deviceId, type Counters, type NodeSelection, type PublishedDevice, type ResourceSlice } from './device.js';

export interface DevicePool {
  /** 'gpu.example.com/node-1' */
  readonly id: string;
  /** `incomplete`: not all slices of its generation are there yet. `invalid`: they contradict each other. */
  readonly state: 'usable' | 'incomplete' | 'invalid';
  /** Devices in slices that this node can use, in the order in which they are tried. */
  readonly devices: readonly PublishedDevice[];
  /** Devices in slices of other nodes. */
  readonly elsewhere: readonly PublishedDevice[];
  /** What the devices of the pool share, by counter set. */
  readonly counterSets: ReadonlyMap<string, Counters>;
}

/** A device that a node can use. */
export interface Candidate {
  readonly published: PublishedDevice;
  readonly pool: DevicePool;
}

export interface NodeDevices {
  /** Sorted by driver, then by name. Pools of which a newer generation is only on other nodes are left out. */
  readonly pools: readonly DevicePool[];
  /** The devices of all pools, in the order in which they are tried. */
  readonly candidates: readonly Candidate[];
}

/** All slices of a cluster, and the pools that they make for each node. */
export class SliceIndex {
  readonly #onNode = new Map<string, ResourceSlice[]>();
  readonly #shared: ResourceSlice[] = [];
  readonly #inPool = new Map<string, ResourceSlice[]>();
  /** A node that changes is another value. */
  readonly #known = new WeakMap<NamedNode, NodeDevices>();

  constructor(slices: readonly ResourceSlice[]) {
    for (const slice of slices) {
      if (slice.nodes.kind === 'node') append(this.#onNode, slice.nodes.name, slice);
      else this.#shared.push(slice);
      append(this.#inPool, poolId(slice), slice);
    }
  }

  devicesFor(node: NamedNode): NodeDevices {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const pools = new Map<string, ResourceSlice[]>();
    for (const slice of [...(this.#onNode.get(node.name) ?? []), ...this.#shared])
      if (isUsable(slice, node)) append(pools, poolId(slice), slice);
    const sorted = [...pools]
      .flatMap(([id, slices]) => poolOf(id, newest(slices), this.#inPool.get(id) ?? []) ?? [])
      .sort((one, other) => compare(one.driver, other.driver) || compare(one.id, other.id));
    const candidates = sorted.flatMap((pool) => pool.devices.map((published) => ({ published, pool })));
    const found = { pools: sorted, candidates };
    this.#known.set(node, found);
    return found;
  }
}

function poolId({ driver, pool }: ResourceSlice): string {
  return `${driver}/${pool.name}`;
}

/** Slices with counters belong to all nodes of the pool. */
function isUsable({ sharedCounters, nodes, devices }: ResourceSlice, node: NamedNode): boolean {
  if (sharedCounters.length > 0) return true;
  return nodes.kind === 'perDevice' ? devices.some((device) => selectsNode(device.nodes, node)) : selectsNode(nodes, node);
}

export function selectsNode(selection: NodeSelection, node: NamedNode): boolean {
  switch (selection.kind) {
    case 'node':
      return selection.name === node.name;
    case 'all':
      return true;
    case 'selector':
      return selection.terms.some((term) => matchesTerm(term, node));
    case 'none':
      return false;
  }
}

function newest(slices: readonly ResourceSlice[]): readonly ResourceSlice[] {
  const generation = slices.reduce((most, { pool }) => (pool.generation > most ? pool.generation : most), 0n);
  return slices.filter(({ pool }) => pool.generation === generation);
}

interface OrderedPool extends DevicePool {
  readonly driver: string;
}

function poolOf(id: string, here: readonly ResourceSlice[], everywhere: readonly ResourceSlice[]): OrderedPool | undefined {
  const [first] = here;
  if (first === undefined) return undefined;
  const { generation, resourceSliceCount } = first.pool;
  const { driver } = first;
  if (everywhere.some(({ pool }) => pool.generation > generation)) return undefined;
  const current = everywhere.filter(({ pool }) => pool.generation === generation);
  const unusable = { id, driver, devices: [], elsewhere: [], counterSets: new Map<string, Counters>() };
  if (BigInt(current.length) !== resourceSliceCount) return { ...unusable, state: 'incomplete' };
  const counterSets = new Map(here.flatMap(({ sharedCounters }) => sharedCounters.map(({ name, counters }) => [name, counters] as const)));
  const devices = published([...here].sort((one, other) => compare(one.name, other.name)));
  const elsewhere = published(current.filter((slice) => !here.includes(slice)));
  const isValid =
    counterSets.size === here.reduce((count, { sharedCounters }) => count + sharedCounters.length, 0) &&
    new Set(devices.map(({ device }) => device.name)).size === devices.length &&
    [...devices, ...elsewhere].every((each) => hasItsCounters(each, counterSets));
  return isValid ? { id, driver, state: 'usable', devices, elsewhere, counterSets } : { ...unusable, state: 'invalid' };
}

function published(slices: readonly ResourceSlice[]): readonly PublishedDevice[] {
  return slices.flatMap((slice) =>
    slice.devices.map((device) => ({ slice, device, id: deviceId(slice.driver, slice.pool.name, device.name) })),
  );
}

function hasItsCounters({ device }: PublishedDevice, counterSets: ReadonlyMap<string, Counters>): boolean {
  return device.consumesCounters.every(({ counterSet, counters }) => {
    const set = counterSets.get(counterSet);
    return set !== undefined && [...counters.keys()].every((name) => set.has(name));
  });
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Compares code units, as Go compares ASCII strings. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
