import type { SchedulerNode } from '../scheduling/scheduler-node.js';
import type { LivePod } from './simulated-pod.js';

/** The memory of a node, in bytes. `availableBytes` left out: the capacity without the use of its pods. */
export interface NodeMemory {
  readonly capacityBytes: bigint;
  readonly availableBytes?: bigint;
}

interface Nodes {
  /** undefined: no such node. */
  readonly node: (name: string) => SchedulerNode | undefined;
  readonly podsOn: (name: string) => readonly LivePod[];
}

/** The memory of nodes during the simulation. */
export class SimulatedMemory {
  readonly #lost = new Map<string, bigint>();

  /** @param measured  by node */
  constructor(
    private readonly measured: ReadonlyMap<string, NodeMemory>,
    private readonly nodes: Nodes,
  ) {}

  capacity(node: string): bigint {
    return this.measured.get(node)?.capacityBytes ?? this.nodes.node(node)?.allocatable.get('memory') ?? 0n;
  }

  /** The measured value, or the capacity without the use of the node's pods. A pod of unknown usage counts with its request. */
  available(node: string): bigint {
    const measured = this.measured.get(node)?.availableBytes;
    const lost = this.#lost.get(node) ?? 0n;
    if (measured !== undefined) return measured - lost;
    const used = this.nodes.podsOn(node).map(({ pod }) => pod.memoryBytes ?? pod.scheduling.requests.get('memory') ?? 0n);
    return used.reduce((left, each) => left - each, this.capacity(node) - lost);
  }

  /** What the node has lost, beside its pods, to earlier pressure. */
  lose(node: string, bytes: bigint): void {
    this.#lost.set(node, (this.#lost.get(node) ?? 0n) + bytes);
  }
}
