import { readyStatus, type ClusterNode } from './cluster-node.js';
import type { ClusterPod } from './cluster-pod.js';
import type { Controller } from './controller.js';
import { NodeLifecycle, type LifecycleConfig, type NodeEffect, type ZoneHealth } from './node-lifecycle.js';
import { GC_PERIOD_NS, gcTerminating } from './pod-gc.js';
import { TaintManager, type TaintEffect } from './taint-manager.js';

/** What a watch has reported. A list has all objects: others are gone. */
export type ClusterChange =
  | { readonly kind: 'pods'; readonly listed: readonly ClusterPod[] }
  | { readonly kind: 'pod'; readonly pod: ClusterPod }
  | { readonly kind: 'pod gone'; readonly uid: string }
  | { readonly kind: 'nodes'; readonly listed: readonly ClusterNode[] }
  | { readonly kind: 'node'; readonly node: ClusterNode }
  | { readonly kind: 'node gone'; readonly name: string }
  | { readonly kind: 'leases'; readonly listed: readonly NodeLease[] }
  | { readonly kind: 'lease'; readonly lease: NodeLease }
  | { readonly kind: 'lease gone'; readonly node: string };

/** What each effect belongs to. */
export const CONTROLLER_OF: Readonly<Record<ClusterEffect['kind'], Controller>> = {
  evict: 'taint-eviction-controller',
  cancel: 'taint-eviction-controller',
  silence: 'node-lifecycle-controller',
  taint: 'node-lifecycle-controller',
  'not ready': 'node-lifecycle-controller',
  'force delete': 'pod-garbage-collector-controller',
};

/** A watch that nothing interrupts is confirmed within 53 s. */
const UNSEEN_NS = 90_000_000_000n;

/** The Lease of a kubelet, in the namespace kube-node-lease. */
export interface NodeLease {
  readonly node: string;
  /** The time as written. */
  readonly renewTime: string;
}

/**
 * What is to be done. `evict`: DELETE with the pod's own grace. `force delete`: with none, marked Failed before it unless it has
 * ended. `not ready`: the pod's condition Ready becomes False, because its node is silent.
 */
export type ClusterEffect =
  | TaintEffect<ClusterPod>
  | NodeEffect
  | { readonly kind: 'force delete'; readonly pod: ClusterPod }
  | { readonly kind: 'not ready'; readonly pod: ClusterPod };

/**
 * A cluster as the controller knows it, and what its parts want. Effects of `tick` come again until the cluster is as it should be:
 * the caller carries out one for an object at a time. Times are those of a clock that never goes back.
 */
export class ClusterControl {
  readonly #pods = new Map<string, ClusterPod>();
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #leases = new Map<string, string>();
  #taints: TaintManager<ClusterPod> | undefined;
  #lifecycle: NodeLifecycle | undefined;
  #collectsPods = false;
  #collectedNs: bigint | undefined;

  constructor(private readonly config: LifecycleConfig) {}

  get zones(): readonly ZoneHealth[] {
    return this.#lifecycle?.zones ?? [];
  }

  get isHalted(): boolean {
    return this.#lifecycle?.isHalted ?? false;
  }

  get size(): { readonly nodes: number; readonly pods: number } {
    return { nodes: this.#nodes.size, pods: this.#pods.size };
  }

  /** When kube-controller-manager has changed the taints of a node last, in ms since 1970; 0: never. */
  get managerTaintedMs(): number {
    return [...this.#nodes.values()].reduce((last, { managerTaintedMs = 0 }) => Math.max(last, managerTaintedMs), 0);
  }

  /** A part that begins knows nothing of what it did before: its times begin anew. */
  setParts(active: ReadonlySet<Controller>, nowNs: bigint): void {
    this.#collectsPods = active.has('pod-garbage-collector-controller');
    if (!active.has('node-lifecycle-controller')) this.#lifecycle = undefined;
    else if (this.#lifecycle === undefined) {
      this.#lifecycle = new NodeLifecycle(this.config);
      for (const [node, renewTime] of this.#leases) this.#lifecycle.setLease(node, renewTime, nowNs);
      for (const node of this.#nodes.values()) this.#lifecycle.setNode(node, nowNs);
    }
    if (!active.has('taint-eviction-controller')) this.#taints = undefined;
    else if (this.#taints === undefined) {
      const manager = new TaintManager<ClusterPod>();
      this.#taints = manager;
      for (const { name, taints } of this.#nodes.values()) manager.setNode(name, taints, nowNs); // what is due, `tick` returns
      for (const pod of this.#pods.values()) this.#taintPod(pod, nowNs);
    }
  }

  /** @param seenNs  as in `tick`, which returns later what is not to be done yet */
  handle(change: ClusterChange, nowNs: bigint, seenNs: bigint): readonly ClusterEffect[] {
    const effects = this.#effects(change, nowNs);
    return isSeen(nowNs, seenNs) ? effects : effects.filter(({ kind }) => kind !== 'evict');
  }

  #effects(change: ClusterChange, nowNs: bigint): readonly ClusterEffect[] {
    switch (change.kind) {
      case 'pods': {
        const listed = new Set(change.listed.map(({ uid }) => uid));
        const gone = [...this.#pods.keys()].filter((uid) => !listed.has(uid));
        return [...gone.flatMap((uid) => this.#deletePod(uid, nowNs)), ...change.listed.flatMap((pod) => this.#setPod(pod, nowNs))];
      }
      case 'pod':
        return this.#setPod(change.pod, nowNs);
      case 'pod gone':
        return this.#deletePod(change.uid, nowNs);
      case 'nodes': {
        const listed = new Set(change.listed.map(({ name }) => name));
        for (const name of [...this.#nodes.keys()].filter((each) => !listed.has(each))) this.#deleteNode(name);
        return change.listed.flatMap((node) => this.#setNode(node, nowNs));
      }
      case 'node':
        return this.#setNode(change.node, nowNs);
      case 'node gone':
        this.#deleteNode(change.name);
        return [];
      case 'leases': {
        const listed = new Set(change.listed.map(({ node }) => node));
        for (const node of [...this.#leases.keys()].filter((each) => !listed.has(each))) this.#deleteLease(node);
        for (const lease of change.listed) this.#setLease(lease, nowNs);
        return [];
      }
      case 'lease':
        this.#setLease(change.lease, nowNs);
        return [];
      case 'lease gone':
        this.#deleteLease(change.node);
        return [];
    }
  }

  /**
   * Nothing ends a pod while the nodes have not been seen for long: a taint may have gone. Effects for nodes come before evictions,
   * because one of them may remove the taint that evicts the pods.
   *
   * @param seenNs  until when every change of nodes and leases has been seen
   */
  tick(nowNs: bigint, seenNs: bigint): readonly ClusterEffect[] {
    const mayDelete = isSeen(nowNs, seenNs);
    return [
      ...(this.#lifecycle?.tick(nowNs, seenNs) ?? []),
      ...this.#podsOfSilentNodes(seenNs),
      ...((mayDelete ? this.#taints?.due(nowNs) : undefined) ?? []),
      ...(mayDelete ? this.#collect(nowNs) : []),
    ];
  }

  /** @param node  as the API server has it now @param seenNs  as in `tick` */
  isSilent({ name, heartbeat }: Pick<ClusterNode, 'name' | 'heartbeat'>, seenNs: bigint): boolean {
    return this.#nodes.get(name)?.heartbeat === heartbeat && this.#lifecycle?.isSilent(name, seenNs) === true;
  }

  /** The first eviction that waits; undefined: none. */
  nextDueNs(nowNs: bigint): bigint | undefined {
    return this.#taints?.nextDueNs(nowNs);
  }

  /** Only once the node itself is marked: an agent that still runs would set the condition again. */
  #podsOfSilentNodes(seenNs: bigint): readonly ClusterEffect[] {
    const lifecycle = this.#lifecycle;
    if (lifecycle === undefined) return [];
    const unknown = [...this.#nodes.values()].filter((node) => readyStatus(node) === 'Unknown' && lifecycle.isSilent(node.name, seenNs));
    if (unknown.length === 0) return [];
    const names = new Set(unknown.map(({ name }) => name));
    return [...this.#pods.values()].flatMap((pod): ClusterEffect[] =>
      pod.isReady && names.has(pod.nodeName) ? [{ kind: 'not ready', pod }] : [],
    );
  }

  #collect(nowNs: bigint): readonly ClusterEffect[] {
    if (!this.#collectsPods || (this.#collectedNs !== undefined && nowNs - this.#collectedNs < GC_PERIOD_NS)) return [];
    this.#collectedNs = nowNs;
    const { forceDeleted } = gcTerminating(this.#pods.values(), this.#nodes.values());
    return forceDeleted.map((pod): ClusterEffect => ({ kind: 'force delete', pod }));
  }

  #setPod(pod: ClusterPod, nowNs: bigint): readonly ClusterEffect[] {
    this.#pods.set(pod.uid, pod);
    return this.#taintPod(pod, nowNs);
  }

  /** A pod that is being deleted already needs no eviction. */
  #taintPod(pod: ClusterPod, nowNs: bigint): readonly ClusterEffect[] {
    if (this.#taints === undefined) return [];
    return pod.terminating ? this.#taints.deletePod(pod.uid, nowNs) : this.#taints.setPod(pod, nowNs);
  }

  #deletePod(uid: string, nowNs: bigint): readonly ClusterEffect[] {
    this.#pods.delete(uid);
    return this.#taints?.deletePod(uid, nowNs) ?? [];
  }

  #setNode(node: ClusterNode, nowNs: bigint): readonly ClusterEffect[] {
    this.#nodes.set(node.name, node);
    this.#lifecycle?.setNode(node, nowNs);
    return this.#taints?.setNode(node.name, node.taints, nowNs) ?? [];
  }

  #deleteNode(name: string): void {
    this.#nodes.delete(name);
    this.#lifecycle?.deleteNode(name);
    this.#taints?.deleteNode(name);
  }

  #deleteLease(node: string): void {
    this.#leases.delete(node);
    this.#lifecycle?.deleteLease(node);
  }

  #setLease({ node, renewTime }: NodeLease, nowNs: bigint): void {
    this.#leases.set(node, renewTime);
    this.#lifecycle?.setLease(node, renewTime, nowNs);
  }
}

function isSeen(nowNs: bigint, seenNs: bigint): boolean {
  return nowNs - seenNs <= UNSEEN_NS;
}
