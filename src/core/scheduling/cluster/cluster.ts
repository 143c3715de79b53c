import { DeviceLedger, NO_DEVICES } from '../../devices/device-ledger.js';
import type { ClusterDevices } from '../../devices/pod-claims.js';
import type { ClusterVolumes } from '../../volumes/cluster-volumes.js';
import { VolumeLedger } from '../../volumes/volume-ledger.js';
import { PodSelectors, type PodOwner, type PodService } from './default-selector.js';
import type { Labels } from '../label-selector.js';
import { NodeState } from './node-state.js';
import { PodGroups } from './pod-groups.js';
import type { SchedulerNode } from '../scheduler-node.js';
import type { SchedulerPod } from '../scheduler-pod.js';

/** An image that nodes have. */
interface ClusterImage {
  /** The size as the first node with the image reports it (pkg/scheduler/backend/cache, addNodeImageStates, v1.36.2). */
  readonly bytes: number;
  readonly nodes: number;
}

/** What a cluster starts with. Pods on unknown nodes, and without a node, are left out. */
export interface ClusterContent {
  readonly nodes: readonly SchedulerNode[];
  /** Pods; those with a nodeName are placed there. */
  readonly pods?: readonly SchedulerPod[];
  /** Labels by namespace. */
  readonly namespaces?: ReadonlyMap<string, Labels>;
  readonly services?: readonly PodService[];
  readonly owners?: readonly PodOwner[];
  readonly devices?: ClusterDevices;
  /** Left out: volumes do not count. */
  readonly volumes?: ClusterVolumes | undefined;
}

/**
 * The nodes of a cluster and the pods on them, with the sums and counts that the scheduler's plugins need. Changes are
 * incremental. A pod is known by its value: what was added is what is removed.
 */
export class Cluster {
  readonly #states = new Map<string, NodeState>();
  readonly #nodeOf = new Map<SchedulerPod, NodeState>();
  readonly #nominated = new Map<string, Set<SchedulerPod>>();
  readonly #nominations = new Map<SchedulerPod, string>();
  readonly #images = new Map<string, ClusterImage>();
  readonly groups: PodGroups;
  readonly selectors: PodSelectors;
  /** What pods have: `reserve` gives it to them, and `end` takes it back. */
  readonly devices: DeviceLedger;
  /** undefined: volumes do not count. */
  readonly volumes: VolumeLedger | undefined;
  #list: readonly NodeState[] = [];

  constructor({
    nodes,
    pods = [],
    namespaces = new Map<string, Labels>(),
    services = [],
    owners = [],
    devices = NO_DEVICES,
    volumes,
  }: ClusterContent) {
    this.groups = new PodGroups(namespaces);
    this.selectors = new PodSelectors(services, owners);
    this.devices = new DeviceLedger(devices);
    this.volumes = volumes && new VolumeLedger(volumes);
    for (const node of nodes) this.#insert(node);
    this.#list = [...this.#states.values()];
    for (const pod of pods) if (this.#states.has(pod.nodeName)) this.add(pod, pod.nodeName);
  }

  /** The nodes in a fixed order; `index` of each is its place here. */
  get nodes(): readonly NodeState[] {
    return this.#list;
  }

  /** undefined: no such node. */
  node(name: string): NodeState | undefined {
    return this.#states.get(name);
  }

  /** The pods on nodes. */
  get pods(): Iterable<SchedulerPod> {
    return this.#nodeOf.keys();
  }

  /** The node of the pod; undefined: none. */
  nodeOf(pod: SchedulerPod): string | undefined {
    return this.#nodeOf.get(pod)?.node.name;
  }

  /** undefined: no node has it. */
  image(name: string): ClusterImage | undefined {
    return this.#images.get(name);
  }

  /** @throws RangeError  no such node, or the pod is on a node already */
  add(pod: SchedulerPod, nodeName: string): void {
    const state = this.#states.get(nodeName);
    if (state === undefined) throw new RangeError(`no node ${nodeName}`);
    if (this.#nodeOf.has(pod)) throw new RangeError(`the pod ${pod.namespace}/${pod.name} is on a node already`);
    this.denominate(pod);
    state.add(pod);
    this.#nodeOf.set(pod, state);
    this.groups.add(pod, state);
  }

  /** Nothing if the pod is on no node. */
  remove(pod: SchedulerPod): void {
    const state = this.#nodeOf.get(pod);
    if (state === undefined) return;
    state.remove(pod);
    this.#nodeOf.delete(pod);
    this.groups.remove(pod, state);
  }

  /** The pod is bound to the node, which its claims fit: they have their devices and volumes. */
  reserve(pod: SchedulerPod, nodeName: string): void {
    const node = this.#states.get(nodeName)?.node;
    if (node === undefined) return;
    this.devices.reserve(pod, node);
    this.volumes?.reserve(pod, node);
  }

  /** The pod has ended: it is removed, gives its devices back, and the claims that were made for it go. */
  end(pod: SchedulerPod): void {
    this.remove(pod);
    this.devices.release(pod);
    this.volumes?.release(pod);
  }

  /** Adds a node, or replaces the one with this name: its pods stay. */
  setNode(node: SchedulerNode): void {
    const pods = [...(this.#states.get(node.name)?.pods ?? [])];
    for (const pod of pods) this.remove(pod);
    this.#insert(node);
    this.#list = [...this.#states.values()];
    for (const pod of pods) this.add(pod, node.name);
  }

  /** The pod is to run on this node once its victims are gone: less important pods count it as being there. */
  nominate(pod: SchedulerPod, nodeName: string): void {
    this.denominate(pod);
    const own = this.#nominated.get(nodeName);
    if (own === undefined) this.#nominated.set(nodeName, new Set([pod]));
    else own.add(pod);
    this.#nominations.set(pod, nodeName);
  }

  denominate(pod: SchedulerPod): void {
    const nodeName = this.#nominations.get(pod);
    if (nodeName === undefined) return;
    this.#nominations.delete(pod);
    const own = this.#nominated.get(nodeName);
    own?.delete(pod);
    if (own?.size === 0) this.#nominated.delete(nodeName);
  }

  /** The node that the pod is nominated to; undefined: none. */
  nominationOf(pod: SchedulerPod): string | undefined {
    return this.#nominations.get(pod);
  }

  nominatedOn(nodeName: string): Iterable<SchedulerPod> {
    return this.#nominated.get(nodeName) ?? [];
  }

  /** A known node keeps its place. */
  #insert(node: SchedulerNode): void {
    const before = this.#states.get(node.name);
    this.#count(before, -1);
    const state = new NodeState(node, before?.index ?? this.#states.size);
    this.#states.set(node.name, state);
    this.#count(state, 1);
  }

  #count(state: NodeState | undefined, sign: 1 | -1): void {
    for (const [name, ownBytes] of state?.node.images ?? []) {
      const { bytes = ownBytes, nodes: before = 0 } = this.#images.get(name) ?? {};
      const nodes = before + sign;
      if (nodes === 0) this.#images.delete(name);
      else this.#images.set(name, { bytes, nodes });
    }
  }
}
