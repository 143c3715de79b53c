import type { HostPort } from '../host-port.js';
import type { Amounts } from '../node-fit.js';
import type { SchedulerNode } from '../scheduler-node.js';
import type { SchedulerPod } from '../scheduler-pod.js';

/** A node and what the pods on it book (framework.NodeInfo). Its owner adds and removes pods. */
export class NodeState {
  readonly #pods: Set<SchedulerPod>;
  readonly #used: Map<string, bigint>;
  readonly #nonZeroUsed: Map<string, bigint>;
  readonly #usedPorts: Map<string, HostPort>;

  /** @param index  in the list of the cluster's nodes */
  constructor(
    readonly node: SchedulerNode,
    readonly index: number,
    from?: NodeState,
  ) {
    this.#pods = new Set(from?.pods);
    this.#used = new Map(from?.used);
    this.#nonZeroUsed = new Map(from?.nonZeroUsed);
    this.#usedPorts = new Map(from && from.#usedPorts);
  }

  get pods(): ReadonlySet<SchedulerPod> {
    return this.#pods;
  }

  /** Requests of the pods. */
  get used(): Amounts {
    return this.#used;
  }

  get nonZeroUsed(): Amounts {
    return this.#nonZeroUsed;
  }

  get usedPorts(): Iterable<HostPort> {
    return this.#usedPorts.values();
  }

  add(pod: SchedulerPod): void {
    this.#pods.add(pod);
    this.#addUsage(pod, 1n);
    for (const port of pod.hostPorts) this.#usedPorts.set(keyOf(port), port);
  }

  /** Removes a pod. As in the scheduler, its port is free although another pod may use it, too. */
  remove(pod: SchedulerPod): void {
    this.#pods.delete(pod);
    this.#addUsage(pod, -1n);
    for (const port of pod.hostPorts) this.#usedPorts.delete(keyOf(port));
  }

  /** A copy to try changes on. */
  copy(): NodeState {
    return new NodeState(this.node, this.index, this);
  }

  #addUsage({ requests, nonZeroRequests }: SchedulerPod, sign: 1n | -1n): void {
    for (const [name, amount] of requests) change(this.#used, name, sign * amount);
    for (const [name, amount] of nonZeroRequests) change(this.#nonZeroUsed, name, sign * amount);
  }
}

function change(sums: Map<string, bigint>, name: string, amount: bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + amount);
}

function keyOf({ address, protocol, port }: HostPort): string {
  return `${protocol} ${address} ${String(port)}`;
}
