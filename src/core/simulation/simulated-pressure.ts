import { departuresOf } from '../decide/departures.js';
import { conditionTaint } from '../disruption/node-taints.js';
import { amountOf } from '../quantity/amount.js';
import { describeRanked, rank, type RankedWorkload } from '../rank/rank.js';
import type { Observation } from '../signal/observation.js';
import { limitOf, thresholdKind, thresholdMet, whenText, type Threshold } from '../threshold/threshold.js';
import type { WorkloadStats } from '../workload/workload.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import { isOnNode, type LivePod } from './simulated-pod.js';

/** What the kubelet's configuration says about evictions for memory. */
export interface KubeletEviction {
  readonly thresholds: readonly Threshold[];
  readonly pressureTransitionPeriodNs: bigint;
  /** The longest grace period of a soft eviction; below 0: the pod's own. */
  readonly maxPodGracePeriodNs: bigint;
}

const SIGNAL = 'memory.available';
/** The kubelet's order; a total one gives the same answer twice. */
const DEPARTURES = departuresOf('kubelet', { 'total-order': true });
/** The grace period of a hard eviction (kubelet: immediateEvictionGracePeriodSeconds). */
const HARD_GRACE_NS = 1_000_000_000n;
const MEMORY_PRESSURE = conditionTaint('MemoryPressure');

/** A node whose memory runs short: the kubelet's loop, which evicts one pod at a time until no threshold is met. */
export class SimulatedPressure {
  readonly #world: SimulatedCluster;
  readonly #kubelet: KubeletEviction;
  readonly #node: string;
  readonly #capacity: bigint;
  #available: bigint;
  #firstMet = new Map<Threshold, bigint>();
  #isTainted = false;
  #evicted = 0;

  constructor(world: SimulatedCluster, kubelet: KubeletEviction, node: string, availableBytes: bigint) {
    this.#world = world;
    this.#kubelet = kubelet;
    this.#node = node;
    this.#capacity = world.memory.capacity(node);
    this.#available = availableBytes;
  }

  look(): void {
    const observation: Observation = { available: this.#available, capacity: this.#capacity, timeNs: undefined, source: 'simulate' };
    const { nowNs } = this.#world;
    const met = this.#kubelet.thresholds.filter(
      (threshold) => threshold.signal === SIGNAL && thresholdMet(threshold, observation, this.#firstMet.has(threshold)),
    );
    this.#firstMet = new Map(met.map((threshold) => [threshold, this.#firstMet.get(threshold) ?? nowNs]));
    if (met.length === 0) {
      this.#relieved();
      return;
    }
    this.#setCondition();
    const due = met.filter((threshold) => nowNs - (this.#firstMet.get(threshold) ?? nowNs) >= threshold.gracePeriodNs);
    const [first] = due.sort((one, other) => Number(one.gracePeriodNs - other.gracePeriodNs));
    if (first !== undefined) this.#evict(first);
    else this.#later(met.map((threshold) => (this.#firstMet.get(threshold) ?? nowNs) + threshold.gracePeriodNs - nowNs));
  }

  #later(afters: readonly bigint[]): void {
    const after = afters.reduce((least, each) => (each < least ? each : least), afters[0] ?? 0n);
    this.#world.later(after, () => {
      this.look();
    });
  }

  #setCondition(): void {
    if (this.#isTainted) return;
    this.#isTainted = true;
    const available = amountOf(SIGNAL, this.#available);
    this.#world.record({ kind: 'node', node: this.#node, what: `MemoryPressure: ${SIGNAL} is ${available}` });
    if (this.#available < 0n) {
      const what = "its pods need more memory than it has: the kernel's OOM killer kills before the kubelet evicts, in another order";
      this.#world.record({ kind: 'node', node: this.#node, what });
    }
    this.#world.addTaint(this.#node, MEMORY_PRESSURE);
  }

  #relieved(): void {
    if (!this.#isTainted) {
      this.#world.record({
        kind: 'node',
        node: this.#node,
        what: `${SIGNAL} is ${amountOf(SIGNAL, this.#available)}: no threshold is met`,
      });
      return;
    }
    this.#world.record({ kind: 'node', node: this.#node, what: `relieved: ${SIGNAL} is ${amountOf(SIGNAL, this.#available)}` });
    this.#world.later(this.#kubelet.pressureTransitionPeriodNs, () => {
      if (this.#firstMet.size === 0) this.#world.removeTaint(this.#node, MEMORY_PRESSURE);
    });
  }

  #evict(threshold: Threshold): void {
    const found = this.#victim();
    if (found === undefined) {
      this.#world.record({ kind: 'node', node: this.#node, what: `${whenText(threshold)} stays met: no pod may be evicted` });
      return;
    }
    const { live, ranked } = found;
    const isHard = thresholdKind(threshold) === 'hard';
    const limit = amountOf(SIGNAL, limitOf(threshold, this.#capacity, true));
    const reason = `${SIGNAL} ${amountOf(SIGNAL, this.#available)} < ${limit}; it ${describeRanked(ranked, 'memory')}`;
    const graceNs = isHard ? HARD_GRACE_NS : this.#softGrace(live);
    this.#world.end(live, 'node-pressure', reason, { graceNs, rank: (this.#evicted += 1) });
    this.#world.later(graceNs, () => {
      this.#available += ranked.usage ?? 0n;
      this.look();
    });
  }

  #softGrace(live: LivePod): bigint {
    const [own, most] = [this.#world.graceOf(live), this.#kubelet.maxPodGracePeriodNs];
    return most < 0n || own < most ? own : most;
  }

  #victim(): { readonly live: LivePod; readonly ranked: RankedWorkload } | undefined {
    const pods = this.#world.podsOn(this.#node).filter((live) => isOnNode(live) && live.stage !== 'ending');
    // If no usage is known at all, pods count with their requests: else the kubelet's order would be that of pods without statistics.
    const isMeasured = pods.some(({ pod }) => pod.memoryBytes !== undefined);
    const usages = pods.map(({ pod }) => ({
      workload: pod.workload,
      stats: statsOf(isMeasured ? pod.memoryBytes : (pod.scheduling.requests.get('memory') ?? 0n)),
    }));
    const ranking = rank(SIGNAL, 'single', usages, DEPARTURES);
    const ranked = ranking.find(({ protection }) => protection === undefined);
    const live = ranked && pods.find(({ pod }) => pod.workload === ranked.workload);
    return ranked && live && { live, ranked };
  }
}

function statsOf(memoryBytes: bigint | undefined): WorkloadStats | undefined {
  if (memoryBytes === undefined) return undefined;
  const none = { processes: undefined, ephemeralStorageBytes: undefined, containers: [], volumes: [] };
  return { workingSetBytes: memoryBytes, usageBytes: memoryBytes, ...none };
}
