import type { Cluster } from './cluster/cluster.js';
import type { NodeState } from './cluster/node-state.js';
import { noDeallocationMessage } from './filters/dynamic-resources.js';
import { unresolvable, type Rejection } from './filters/pod-filter.js';
import {
  bestNodes,
  errorOf,
  filterNodes,
  noNodeMessage,
  numFeasibleNodesToFind,
  Placement,
  scoreNodes,
  type Filtered,
} from './placement.js';
import {
  bestCandidates,
  findCandidates,
  noCandidateMessage,
  notEligible,
  type PreemptionCandidate,
} from './preemption/preemption-candidates.js';
import type { PodDisruptionBudget, SchedulerPod } from './scheduler-pod.js';
import { DEFAULT_PROFILES, type SchedulerProfiles } from './scheduler-profile.js';
import type { NodeScores } from './scores/node-scores.js';
import { seededRandom } from './seeded-random.js';

export interface SchedulerOptions {
  readonly profiles?: SchedulerProfiles;
  /** Decides between equally good nodes, and where the search for victims starts. */
  readonly seed?: number;
}

export interface ScheduleOptions {
  /** Looks at every node and scores every feasible one, to explain the choice. The scheduler itself stops when it has enough. */
  readonly everyNode?: boolean;
}

export interface ScheduleResult {
  /** undefined: the pod waits. */
  readonly node: string | undefined;
  /** Names of the nodes that were found feasible. */
  readonly feasible: readonly string[];
  /** Rejections by name of the node. Nodes that were not looked at are left out. */
  readonly rejected: ReadonlyMap<string, Rejection>;
  /** The pod was refused before a node was looked at. */
  readonly preFilter: Rejection | undefined;
  /** The scores of each feasible node, by name. undefined: there was no choice. */
  readonly scores: ReadonlyMap<string, NodeScores> | undefined;
  /** Why there is no node, as in the pod's condition PodScheduled, without the part about preemption. '': there is one. */
  readonly message: string;
}

export interface PreemptionResult {
  /** The pod is to run on this node once its victims are gone. undefined: preemption does not help. */
  readonly candidate: PreemptionCandidate | undefined;
  /** It may preempt. If that does not help, it is nominated no more. */
  readonly isEligible: boolean;
  /** What follows in the message of the pod: what the plugins say that make room. '': there is a candidate. */
  readonly message: string;
}

/** Chooses nodes for pods of one cluster, and victims. It changes nothing there: its caller adds, removes and nominates. */
export class Scheduler {
  readonly #random: (bound: number) => number;
  readonly #profiles: SchedulerProfiles;
  /** The index where the next search starts, so that all nodes have their turn. */
  #start = 0;

  constructor(
    readonly cluster: Cluster,
    { profiles = DEFAULT_PROFILES, seed = 0 }: SchedulerOptions = {},
  ) {
    this.#random = seededRandom(seed);
    this.#profiles = profiles;
  }

  schedule(pod: SchedulerPod, { everyNode = false }: ScheduleOptions = {}): ScheduleResult {
    const placement = this.#placementOf(pod);
    if (placement === undefined) {
      const message = otherScheduler(pod);
      return { node: undefined, feasible: [], rejected: new Map(), preFilter: undefined, scores: undefined, message };
    }
    const filtered = this.#nominated(placement, everyNode) ?? this.#filter(placement, everyNode);
    const { feasible, rejected, preFilter } = filtered;
    const names = feasible.map(({ node }) => node.name);
    const found = { feasible: names, rejected, preFilter };
    const [only] = names;
    if (only === undefined)
      return { ...found, node: undefined, scores: undefined, message: noNodeMessage(filtered, this.cluster.nodes.length) };
    if (names.length === 1 && !everyNode) return { ...found, node: only, scores: undefined, message: '' };
    const scores = scoreNodes(placement, feasible);
    const best = bestNodes(scores);
    return { ...found, node: best[this.#random(best.length)] ?? only, scores, message: '' };
  }

  /**
   * Finds victims for a pod that has no node. As in the scheduler the search starts anywhere, and ends when a tenth of
   * the nodes that may help, and at least 100, have been found to.
   *
   * @param scheduled  what `schedule` said of the pod, with the cluster as it is now
   */
  preempt(
    pod: SchedulerPod,
    scheduled: Pick<ScheduleResult, 'rejected' | 'preFilter'>,
    budgets: readonly PodDisruptionBudget[],
  ): PreemptionResult {
    const placement = this.#placementOf(pod);
    if (placement === undefined) return { candidate: undefined, isEligible: false, message: '' };
    const refused = (isEligible: boolean, ...why: readonly string[]): PreemptionResult => {
      const messages = [noDeallocationMessage(placement.input), ...why.map((each) => `preemption: ${each}`)];
      return { candidate: undefined, isEligible, message: messages.join(', ') };
    };
    if (errorOf(scheduled) !== undefined) return { candidate: undefined, isEligible: true, message: '' };
    if (!placement.input.profile.plugins.preempts) return refused(false);
    const reason = notEligible(placement, scheduled);
    if (reason !== undefined) return refused(false, reason);
    const search = findCandidates(placement, scheduled.rejected, budgets, this.#random);
    const best = bestCandidates(search.candidates);
    const candidate = best[this.#random(best.length)];
    if (candidate !== undefined) return { candidate, isEligible: true, message: '' };
    return refused(true, noCandidateMessage(search.reasons, this.cluster.nodes.length));
  }

  /** All rejections of the pod by the filters of a node, by name of the node. */
  rejectionsOf(pod: SchedulerPod): ReadonlyMap<string, readonly Rejection[]> {
    const placement = this.#placementOf(pod);
    const checkAll = (state: NodeState): readonly Rejection[] => placement?.checkAll(state) ?? [unresolvable('', otherScheduler(pod))];
    return new Map(this.cluster.nodes.map((state) => [state.node.name, checkAll(state)]));
  }

  /** undefined: the pod is another scheduler's. */
  #placementOf(pod: SchedulerPod): Placement | undefined {
    const profile = this.#profiles.get(pod.schedulerName);
    return profile && new Placement(pod, this.cluster, profile);
  }

  /** The node that the pod is nominated to, if it is feasible now. */
  #nominated(placement: Placement, everyNode: boolean): Filtered | undefined {
    const { pod } = placement.input;
    const name = this.cluster.nominationOf(pod) ?? pod.nominatedNodeName;
    const state = everyNode ? undefined : this.cluster.node(name);
    if (state === undefined || placement.check(state) !== undefined) return undefined;
    return { feasible: [state], rejected: new Map(), preFilter: undefined, processed: 1 };
  }

  #filter(placement: Placement, everyNode: boolean): Filtered {
    if (everyNode) return filterNodes(placement);
    const { length } = this.cluster.nodes;
    const { percentageOfNodesToScore, plugins } = placement.input.profile;
    // Without scores one node is as good as another.
    const enoughOf = (nodes: number): number => (plugins.scores.length === 0 ? 1 : numFeasibleNodesToFind(nodes, percentageOfNodesToScore));
    const filtered = filterNodes(placement, { start: this.#start, enoughOf });
    this.#start = length === 0 ? 0 : (this.#start + filtered.processed) % length;
    return filtered;
  }
}

function otherScheduler({ schedulerName }: SchedulerPod): string {
  return `waiting for the scheduler ${JSON.stringify(schedulerName)}, which is not simulated`;
}
