// Where a pod may run and where it runs best (pkg/scheduler, schedule_one.go, v1.36.2).
import { findMatchingUntoleratedTaint } from '../disruption/toleration.js';
import type { Cluster } from './cluster/cluster.js';
import { dynamicResources } from './filters/dynamic-resources.js';
import { interPodAffinity } from './filters/inter-pod-affinity.js';
import {
  nodeAffinity,
  nodeDeclaredFeatures,
  nodeName,
  nodePorts,
  nodeResourcesFit,
  nodeUnschedulable,
  taintToleration,
} from './filters/node-filters.js';
import { unresolvable, type FilterPlugin, type PlacementInput, type PodFilter, type Rejection } from './filters/pod-filter.js';
import { podTopologySpread } from './filters/topology-spread.js';
import { volumeBinding } from './filters/volume-binding.js';
import { nodeVolumeLimits, volumeRestrictions, volumeZone } from './filters/volumes.js';
import type { NodeState } from './cluster/node-state.js';
import { isExtendedResource } from './node-fit.js';
import { nodeScores, totalScore, type NodeScores } from './scores/node-scores.js';
import type { SchedulerPod, SpreadConstraint } from './scheduler-pod.js';
import { DEFAULT_PROFILE, type SchedulerProfile } from './scheduler-profile.js';

const FILTERS: Readonly<Partial<Record<string, FilterPlugin>>> = {
  NodeUnschedulable: nodeUnschedulable,
  NodeName: nodeName,
  TaintToleration: taintToleration,
  NodeAffinity: nodeAffinity,
  NodePorts: nodePorts,
  NodeResourcesFit: nodeResourcesFit,
  VolumeRestrictions: volumeRestrictions,
  NodeVolumeLimits: nodeVolumeLimits,
  VolumeBinding: volumeBinding,
  VolumeZone: volumeZone,
  PodTopologySpread: podTopologySpread,
  InterPodAffinity: interPodAffinity,
  DynamicResources: dynamicResources,
  NodeDeclaredFeatures: nodeDeclaredFeatures,
};

type MovingFilter = PodFilter & Required<Pick<PodFilter, 'move'>>;

/** The plugins are made ready for one pod, and the cluster as it is now. */
export class Placement {
  readonly #filters: readonly PodFilter[];
  readonly #moving: readonly MovingFilter[];
  readonly input: PlacementInput;

  constructor(pod: SchedulerPod, cluster: Cluster, profile: SchedulerProfile) {
    const own = pod.spreadConstraints;
    this.input = {
      pod,
      cluster,
      profile,
      constraints: own.length > 0 ? own : defaultConstraints(pod, cluster, profile),
      requiresAllTopologies: own.length > 0 || !profile.systemDefaulted,
    };
    this.#filters = profile.plugins.filters.flatMap((name) => FILTERS[name]?.(this.input) ?? []);
    this.#moving = this.#filters.filter((filter): filter is MovingFilter => filter.move !== undefined);
  }

  /** Why the pod can run on no node. */
  get refused(): Rejection | undefined {
    return this.#filters.find(({ refused }) => refused !== undefined)?.refused;
  }

  /**
   * The first filter that rejects the node; undefined: the pod may run there. It may not if it would be in the way of more
   * important pods that are nominated to this node, and it may not need them to be there.
   */
  check(state: NodeState): Rejection | undefined {
    const { pod, cluster } = this.input;
    const nominated = [...cluster.nominatedOn(state.node.name)].filter(
      (other) => other !== pod && other.priority >= pod.priority && !state.pods.has(other),
    );
    if (nominated.length === 0) return this.#check(state);
    const full = state.copy();
    for (const other of nominated) this.move(other, full, 1);
    const rejection = this.#check(full);
    for (const other of nominated) this.move(other, full, -1);
    return rejection ?? this.#check(state);
  }

  /** What each filter has against the node, to explain a choice. Nominated pods do not count. */
  checkAll(state: NodeState): readonly Rejection[] {
    return this.#filters.flatMap((filter) => filter.check(state) ?? []);
  }

  /** Judges from now on as if the other pod were added to the node (1) or removed from it (-1). */
  move(other: SchedulerPod, state: NodeState, sign: 1 | -1): void {
    if (sign === 1) state.add(other);
    else state.remove(other);
    for (const filter of this.#moving) filter.move(other, state, sign);
  }

  #check(state: NodeState): Rejection | undefined {
    for (const filter of this.#filters) {
      const rejection = filter.check(state);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  }
}

/** What the kubelet asks of a pod that names its node (kubelet/lifecycle, generalFilter, v1.36.2). */
const KUBELET_FILTERS = ['NodeResourcesFit', 'NodeAffinity', 'NodeName', 'NodePorts'];

const NOT_TOLERATED = unresolvable('TaintToleration', "node(s) had taints that the pod didn't tolerate");

/** Why the kubelet of the node does not run the pod; undefined: it does. It ignores extended resources that the node does not know. */
export function kubeletAdmits(pod: SchedulerPod, cluster: Cluster, state: NodeState): Rejection | undefined {
  const plugins = { filters: KUBELET_FILTERS, scores: [], preempts: false };
  const { allocatable } = state.node;
  const requests = new Map([...pod.requests].filter(([name]) => !isExtendedResource(name) || allocatable.has(name)));
  const [rejection] = new Placement({ ...pod, requests }, cluster, { ...DEFAULT_PROFILE, plugins }).checkAll(state);
  return rejection ?? (findMatchingUntoleratedTaint(state.node.taints, pod.tolerations, ['NoExecute']) && NOT_TOLERATED);
}

/** The default constraints, for pods that a service or an owner selects. */
function defaultConstraints(pod: SchedulerPod, { selectors }: Cluster, profile: SchedulerProfile): readonly SpreadConstraint[] {
  const selector = selectors.of(pod);
  return selector === undefined ? [] : profile.defaultConstraints.map((constraint) => ({ ...constraint, selector }));
}

export interface Filtered {
  readonly feasible: readonly NodeState[];
  readonly rejected: ReadonlyMap<string, Rejection>;
  /** The pod was refused before a node was looked at. */
  readonly preFilter: Rejection | undefined;
  /** How many nodes were looked at. */
  readonly processed: number;
}

const NOT_NAMED: Rejection = {
  plugin: '',
  code: 'UnschedulableAndUnresolvable',
  reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
};

const CONFLICTING_TERMS: Rejection = {
  plugin: 'NodeAffinity',
  code: 'UnschedulableAndUnresolvable',
  reasons: ['pod affinity terms conflict'],
};

/**
 * Looks at nodes from `start` on, until enough are feasible, or one is an error.
 *
 * @param enoughOf  of so many nodes; left out: looks at all nodes
 */
export function filterNodes(
  placement: Placement,
  { start = 0, enoughOf = () => Infinity }: { readonly start?: number; readonly enoughOf?: (nodes: number) => number } = {},
): Filtered {
  const { pod, cluster, profile } = placement.input;
  const { nodes } = cluster;
  const rejected = new Map<string, Rejection>();
  const feasible: NodeState[] = [];
  const named = profile.plugins.filters.includes('NodeAffinity') ? namedNodes(pod) : undefined;
  if (named?.size === 0) return { feasible, rejected, preFilter: CONFLICTING_TERMS, processed: 0 };
  const { refused } = placement;
  if (refused !== undefined) return { feasible, rejected, preFilter: refused, processed: 0 };
  if (named !== undefined) for (const { node } of nodes) if (!named.has(node.name)) rejected.set(node.name, NOT_NAMED);
  const looked = named === undefined ? nodes : nodes.filter(({ node }) => named.has(node.name));
  const enough = enoughOf(looked.length);
  let processed = 0;
  for (; processed < looked.length && feasible.length < enough; processed += 1) {
    const state = looked[(start + processed) % looked.length];
    if (state === undefined) break;
    const rejection = placement.check(state);
    if (rejection?.code === 'Error')
      return { feasible: [], rejected: new Map([[state.node.name, rejection]]), preFilter: undefined, processed: processed + 1 };
    if (rejection === undefined) feasible.push(state);
    else rejected.set(state.node.name, rejection);
  }
  return { feasible, rejected, preFilter: undefined, processed };
}

/** The only nodes that the pod names; undefined: it names none. */
function namedNodes({ requiredNodeAffinity: { terms = [] } }: SchedulerPod): ReadonlySet<string> | undefined {
  const named = new Set<string>();
  for (const { fields } of terms) {
    const lists = fields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In').map(({ values }) => values);
    const [first, ...more] = lists;
    if (first === undefined) return undefined;
    for (const name of first) if (more.every((list) => list.includes(name))) named.add(name);
  }
  return terms.length === 0 ? undefined : named;
}

/** The scores, by name of the node. */
export function scoreNodes({ input }: Placement, feasible: readonly NodeState[]): ReadonlyMap<string, NodeScores> {
  const scores = nodeScores(input, feasible);
  return new Map(feasible.map(({ node }, index) => [node.name, scores[index] ?? new Map<string, number>()]));
}

/** The nodes with the highest total. */
export function bestNodes(scores: ReadonlyMap<string, NodeScores>): readonly string[] {
  let [best, most]: [string[], number] = [[], -Infinity];
  for (const [name, of] of scores) {
    const total = totalScore(of);
    if (total > most) [best, most] = [[], total];
    if (total === most) best.push(name);
  }
  return best;
}

/** What ended the search; undefined: nothing. */
export function errorOf({ rejected }: Pick<Filtered, 'rejected'>): Rejection | undefined {
  return [...rejected.values()].find(({ code }) => code === 'Error');
}

/** The text that users see when no node is left, without the part about preemption. */
export function noNodeMessage({ rejected, preFilter }: Pick<Filtered, 'rejected' | 'preFilter'>, nodes: number): string {
  const error = errorOf({ rejected });
  if (error !== undefined) return error.reasons.join(', ');
  if (preFilter !== undefined) return `${noneOf(nodes)} ${preFilter.reasons.join(', ')}.`;
  return availabilityMessage(
    [...rejected.values()].map(({ reasons }) => reasons),
    nodes,
  );
}

/** How many nodes have each reason (framework.FitError). */
export function availabilityMessage(reasons: readonly (readonly string[])[], nodes: number): string {
  const counts = new Map<string, number>();
  for (const reason of reasons.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const list = [...counts].map(([reason, count]) => `${String(count)} ${reason}`).sort();
  return list.length === 0 ? noneOf(nodes) : `${noneOf(nodes)} ${list.join(', ')}.`;
}

function noneOf(nodes: number): string {
  return `0/${String(nodes)} nodes are available:`;
}

const MIN_NODES = 100;

/** How many feasible nodes end the search. */
export function numFeasibleNodesToFind(nodes: number, percentageOfNodesToScore: number): number {
  if (nodes < MIN_NODES) return nodes;
  const percentage = percentageOfNodesToScore === 0 ? Math.max(50 - Math.trunc(nodes / 125), 5) : percentageOfNodesToScore;
  return Math.max(Math.trunc((nodes * percentage) / 100), MIN_NODES);
}
