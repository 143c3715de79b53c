import { UNSCHEDULABLE_TAINT } from '../disruption/node-taints.js';
import type { EvictionFailure } from '../drain/pod-eviction.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import type { LivePod } from './simulated-pod.js';

/** How often kubectl drain asks again. */
const RETRY_NS = 5_000_000_000n;

/** `kubectl drain --ignore-daemonsets --delete-emptydir-data --force`: cordons the node, then asks to evict each pod. */
export class SimulatedDrain {
  readonly #world: SimulatedCluster;
  readonly #node: string;
  readonly #startNs: bigint;
  /** Refused pods, and the place of their refusal in the timeline. */
  readonly #refused = new Map<LivePod, number>();
  #isRetrying = false;

  constructor(world: SimulatedCluster, node: string) {
    this.#world = world;
    this.#node = node;
    this.#startNs = world.nowNs;
  }

  start(): void {
    const world = this.#world;
    world.record({ kind: 'node', node: this.#node, what: 'cordoned' });
    world.changeNode(this.#node, (node) => ({
      ...node,
      unschedulable: true,
      taints: [...node.taints.filter(({ key }) => key !== UNSCHEDULABLE_TAINT.key), UNSCHEDULABLE_TAINT],
    }));
    for (const live of world.podsOn(this.#node)) {
      const why = staysWhy(live);
      if (why === undefined) this.#ask(live);
      else world.record({ kind: 'stays', pod: live.path, node: this.#node, reason: why });
    }
  }

  /** A budget may allow more now: asks again at the next turn. */
  retry(): void {
    if (this.#isRetrying || this.#refused.size === 0) return;
    this.#isRetrying = true;
    const sinceNs = this.#world.nowNs - this.#startNs;
    this.#world.later(RETRY_NS - (sinceNs % RETRY_NS), () => {
      this.#isRetrying = false;
      for (const live of [...this.#refused.keys()]) this.#ask(live);
    });
  }

  #ask(live: LivePod): void {
    const world = this.#world;
    if (live.stage !== 'running' && live.stage !== 'starting') {
      this.#refused.delete(live);
      return;
    }
    const { failure } = world.budgets.ask(live);
    if (failure === undefined) {
      const at = this.#refused.get(live);
      const event = at === undefined ? undefined : world.events[at];
      if (at !== undefined && event?.kind === 'refused') world.events[at] = { ...event, untilNs: world.nowNs };
      this.#refused.delete(live);
      world.end(
        live,
        'drain',
        live.scheduling.controller === undefined ? 'drained; kubectl drain needs --force: no controller' : 'drained',
      );
    } else if (!this.#refused.has(live)) {
      this.#refused.set(live, world.events.length);
      const budgets = world.budgets.namesOf(live.scheduling);
      world.record({ kind: 'refused', pod: live.path, node: this.#node, budgets, reason: textOf(failure) });
    }
  }
}

function textOf({ causes = [], message }: EvictionFailure): string {
  return causes[0]?.message ?? message;
}

function staysWhy({ scheduling, pod, stage }: LivePod): string | undefined {
  if (stage === 'ending') return 'already terminating';
  if (pod.workload.protection?.kind === 'static') return 'a static pod';
  return scheduling.controller?.kind === 'DaemonSet' ? 'a DaemonSet' : undefined;
}
