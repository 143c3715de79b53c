import { expect, test } from 'vitest';
import type { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import type { NodeState } from '../../../src/core/scheduling/cluster/node-state.js';
import { podTopologySpread } from '../../../src/core/scheduling/filters/topology-spread.js';
import { interPodAffinity } from '../../../src/core/scheduling/filters/inter-pod-affinity.js';
import { selects, type LabelSelector } from '../../../src/core/scheduling/label-selector.js';
import { matchesRequiredNodeAffinity } from '../../../src/core/scheduling/node-affinity.js';
import { Placement } from '../../../src/core/scheduling/placement.js';
import { Scheduler } from '../../../src/core/scheduling/scheduler.js';
import type { PodAffinityTerm, SchedulerPod } from '../../../src/core/scheduling/scheduler-pod.js';
import { DEFAULT_PROFILE } from '../../../src/core/scheduling/scheduler-profile.js';
import { affinityScores } from '../../../src/core/scheduling/scores/affinity-scores.js';
import { fc } from '../../support/property.js';
import { clusterOf, NO_AFFINITY, somePod } from './scheduling-values.js';

const podsOnNodes = fc.array(somePod(), { maxLength: 12 });

/** All that can be asked of a cluster. */
function seenOf(cluster: Cluster, pod: SchedulerPod): unknown {
  const { node: _node, ...result } = new Scheduler(cluster).schedule({ ...pod, nodeName: '' }, { everyNode: true });
  const states = cluster.nodes.map(({ pods, used, nonZeroUsed }) => ({
    pods: new Set(pods),
    used: [...used].filter(([, amount]) => amount !== 0n),
    nonZeroUsed: [...nonZeroUsed].filter(([, amount]) => amount !== 0n),
  }));
  return { ...result, states, groups: [...cluster.groups.about('shop'), ...cluster.groups.about('bank')].length };
}

test('a pod that was added and removed leaves no trace in the cluster', () => {
  fc.assert(
    fc.property(podsOnNodes, podsOnNodes, somePod(4), (staying, leaving, pod) => {
      const cluster = clusterOf([...leaving, ...staying]);
      for (const other of leaving) cluster.remove(other);
      expect(seenOf(cluster, pod)).toEqual(seenOf(clusterOf(staying), pod));
    }),
  );
});

test('a node that is replaced keeps its pods', () => {
  fc.assert(
    fc.property(podsOnNodes, somePod(4), (pods, pod) => {
      const cluster = clusterOf(pods);
      const node = cluster.node('n0')?.node;
      if (node === undefined) throw new Error('there is no n0');
      cluster.setNode({ ...node, unschedulable: true });
      cluster.setNode(node);
      expect(seenOf(cluster, pod)).toEqual(seenOf(clusterOf(pods), pod));
    }),
  );
});

const inputOf = (pod: SchedulerPod, cluster: Cluster): Placement['input'] => new Placement(pod, cluster, DEFAULT_PROFILE).input;

/** By the definition: every pod of every node is looked at. */
function pairs(cluster: Cluster): readonly (readonly [SchedulerPod, NodeState])[] {
  return cluster.nodes.flatMap((state) => [...state.pods].map((pod) => [pod, state] as const));
}

function isSkewed(pod: SchedulerPod, state: NodeState, cluster: Cluster): boolean {
  const hard = pod.spreadConstraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
  return hard.some(({ topologyKey, selector, minDomains, maxSkew, honorsAffinity, honorsTaints }) => {
    const eligible = cluster.nodes.filter(
      ({ node }) =>
        hard.every((constraint) => node.labels.has(constraint.topologyKey)) &&
        (!honorsAffinity || matchesRequiredNodeAffinity(pod.requiredNodeAffinity, node)) &&
        (!honorsTaints || node.taints.length === 0),
    );
    const values = new Set(eligible.map(({ node }) => node.labels.get(topologyKey)));
    const countOf = (value: string | undefined): number =>
      eligible
        .filter(({ node }) => node.labels.get(topologyKey) === value)
        .flatMap(({ pods }) => [...pods])
        .filter((other) => !other.terminating && other.namespace === pod.namespace && isCounted(selector, other)).length;
    const value = state.node.labels.get(topologyKey);
    const least = values.size < minDomains ? 0 : Math.min(...[...values].map(countOf));
    return value === undefined || countOf(value) + (selects(selector, pod.labels) ? 1 : 0) - least > maxSkew;
  });
}

test('the incremental counts give the same spread as the definition', () => {
  fc.assert(
    fc.property(podsOnNodes, somePod(5), (pods, pod) => {
      const cluster = clusterOf(pods);
      const filter = podTopologySpread(inputOf(pod, cluster));
      for (const state of cluster.nodes) expect(filter?.check(state) !== undefined).toBe(isSkewed(pod, state, cluster));
    }),
    { numRuns: 300 },
  );
});

const TEAMS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  ['shop', new Map([['team', 'blue']])],
  ['bank', new Map()],
]);

/** An empty selector counts no pod. */
const isCounted = (selector: LabelSelector | undefined, { labels }: SchedulerPod): boolean =>
  selector?.requirements.length !== 0 && selects(selector, labels);
/** A pod that is moved counts for an empty selector all the same, as in the scheduler. */
const hasSpreadSelectors = ({ spreadConstraints }: Pick<SchedulerPod, 'spreadConstraints'>): boolean =>
  spreadConstraints.every(({ selector }) => selector?.requirements.length !== 0);

const isAbout = ({ namespaces, namespaceSelector, selector }: PodAffinityTerm, { namespace, labels }: SchedulerPod): boolean =>
  (namespaces.includes(namespace) || selects(namespaceSelector, TEAMS.get(namespace) ?? new Map<string, string>())) &&
  selects(selector, labels);

const isNear = (one: NodeState, other: NodeState, topologyKey: string): boolean =>
  one.node.labels.has(topologyKey) && one.node.labels.get(topologyKey) === other.node.labels.get(topologyKey);

function affinityRejects(pod: SchedulerPod, state: NodeState, cluster: Cluster): boolean {
  const [wanted, unwanted] = [pod.podAffinity.required, pod.podAntiAffinity.required];
  const all = pairs(cluster);
  const friends = all.filter(([other]) => wanted.every((term) => isAbout(term, other)));
  const isFirst =
    !friends.some(([, on]) => wanted.some(({ topologyKey }) => on.node.labels.has(topologyKey))) &&
    wanted.every((term) => isAbout(term, pod));
  const isWanted = wanted.every(
    ({ topologyKey }) => state.node.labels.has(topologyKey) && (isFirst || friends.some(([, on]) => isNear(on, state, topologyKey))),
  );
  const repels = (terms: readonly PodAffinityTerm[], other: SchedulerPod, on: NodeState): boolean =>
    terms.some((term) => isAbout(term, other) && isNear(on, state, term.topologyKey));
  return !isWanted || all.some(([other, on]) => repels(unwanted, other, on) || repels(other.podAntiAffinity.required, pod, on));
}

test('the incremental counts give the same affinity as the definition', () => {
  fc.assert(
    fc.property(podsOnNodes, somePod(4), (pods, pod) => {
      const cluster = clusterOf(pods);
      const filter = interPodAffinity(inputOf(pod, cluster));
      for (const state of cluster.nodes) expect(filter?.check(state) !== undefined).toBe(affinityRejects(pod, state, cluster));
    }),
    { numRuns: 300 },
  );
});

function affinitySum(pod: SchedulerPod, state: NodeState, cluster: Cluster): number {
  const weightOf = (terms: readonly (PodAffinityTerm & { readonly weight: number })[], target: SchedulerPod, on: NodeState): number =>
    terms.reduce((sum, term) => (isAbout(term, target) && isNear(on, state, term.topologyKey) ? sum + term.weight : sum), 0);
  return pairs(cluster).reduce((sum, [other, on]) => {
    const required = other.podAffinity.required.map((term) => ({ ...term, weight: 1 }));
    const wanted = weightOf(pod.podAffinity.preferred, other, on) + weightOf([...required, ...other.podAffinity.preferred], pod, on);
    return sum + wanted - weightOf(pod.podAntiAffinity.preferred, other, on) - weightOf(other.podAntiAffinity.preferred, pod, on);
  }, 0);
}

test('the incremental counts give the same affinity score as the definition', () => {
  fc.assert(
    fc.property(podsOnNodes, somePod(4), (pods, pod) => {
      const cluster = clusterOf(pods);
      const sums = cluster.nodes.map((state) => affinitySum(pod, state, cluster));
      const [least, most] = [Math.min(...sums), Math.max(...sums)];
      const scores = affinityScores(inputOf(pod, cluster), cluster.nodes) ?? sums.map(() => 0);
      expect(scores).toEqual(sums.map((sum) => (most === least ? 0 : Math.trunc(100 * ((sum - least) / (most - least))))));
    }),
    { numRuns: 300 },
  );
});

test('a placement with pods moved away or in judges like a cluster that has them so', () => {
  const running = podsOnNodes.map((pods) => pods.map((pod) => ({ ...pod, terminating: false })));
  fc.assert(
    fc.property(running, running, somePod(4).filter(hasSpreadSelectors), (pods, arriving, spec) => {
      const pod = { ...spec, nodeName: '' };
      const cluster = clusterOf(pods);
      const placement = new Placement(pod, cluster, DEFAULT_PROFILE);
      for (const state of cluster.nodes) {
        const victims = [...state.pods].filter(({ priority }) => priority < 2);
        const tried = state.copy();
        for (const victim of victims) placement.move(victim, tried, -1);
        // The scheduler overlooks the anti-affinity of arriving pods if no other pod has any.
        const arrived = arriving.slice(0, 3).map((other) => ({ ...other, podAntiAffinity: NO_AFFINITY, nodeName: state.node.name }));
        for (const other of arrived) placement.move(other, tried, 1);
        const then = clusterOf([...pods.filter((other) => !victims.includes(other)), ...arrived]);
        const there = then.node(state.node.name);
        expect(there && placement.check(tried)).toEqual(there && new Placement(pod, then, DEFAULT_PROFILE).check(there));
        for (const other of arrived) placement.move(other, tried, -1);
        for (const victim of victims) placement.move(victim, tried, 1);
      }
    }),
    { numRuns: 300 },
  );
});
