// On which nodes a pod may run: the filters of the default profile, in its order (pkg/scheduler, v1.36.2).
import { conflicts } from '../host-ports.js';
import { matchesRequiredNodeAffinity, matchesTerm, requiredNodeAffinityAt } from '../node-affinity.js';
import { insufficientResources, type Amounts } from '../node-fit.js';
import { findMatchingUntoleratedTaint } from '../taint.js';
import { affinityFilter } from './inter-pod-affinity.js';
import type { SchedulerProfile } from './profile.js';
import type { ScheduledPod, SchedulerNode, Snapshot } from './snapshot.js';
import type { SpreadConstraint } from './spread-constraint.js';
import { spreadFilter } from './topology-spread.js';

export interface Rejection {
  readonly plugin: string;
  /** UnschedulableAndUnresolvable: preemption on this node does not help. */
  readonly code: 'Unschedulable' | 'UnschedulableAndUnresolvable';
  readonly reasons: readonly string[];
}

type NodeFilter = (node: SchedulerNode) => Rejection | undefined;

export interface FilterInput {
  readonly pod: ScheduledPod;
  readonly snapshot: Snapshot;
  readonly profile: SchedulerProfile;
  /** Hard ones. */
  readonly constraints: readonly SpreadConstraint[];
}

function forGood(plugin: string, reason: string): Rejection {
  return { plugin, code: 'UnschedulableAndUnresolvable', reasons: [reason] };
}

function forNow(plugin: string, reason: string): Rejection {
  return { plugin, code: 'Unschedulable', reasons: [reason] };
}

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' } as const;

/** The first filter that rejects a node; undefined: the node is feasible. */
export function nodeFilter(input: FilterInput): NodeFilter {
  const filters = [unschedulable, nodeName, taints, nodeAffinity, ports, resources, spread, interPodAffinity].map((make) => make(input));
  return (node) => {
    for (const filter of filters) {
      const rejection = filter(node);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  };
}

function unschedulable({ pod }: FilterInput): NodeFilter {
  const isTolerated = findMatchingUntoleratedTaint([UNSCHEDULABLE], pod.tolerations, ['NoSchedule'], 'off') === undefined;
  return (node) => (node.unschedulable && !isTolerated ? forGood('NodeUnschedulable', 'node(s) were unschedulable') : undefined);
}

function nodeName({ pod }: FilterInput): NodeFilter {
  return ({ name }) =>
    pod.nodeName !== '' && pod.nodeName !== name ? forGood('NodeName', "node(s) didn't match the requested node name") : undefined;
}

function taints({ pod }: FilterInput): NodeFilter {
  return (node) =>
    findMatchingUntoleratedTaint(node.taints, pod.tolerations, ['NoSchedule', 'NoExecute'], 'off') === undefined
      ? undefined
      : forGood('TaintToleration', 'node(s) had untolerated taint(s)');
}

function nodeAffinity({ pod, profile: { addedNodeTerms } }: FilterInput): NodeFilter {
  const affinity = requiredNodeAffinityAt(pod.spec);
  return (node) => {
    if (addedNodeTerms !== undefined && !addedNodeTerms.some((term) => matchesTerm(term, node)))
      return forGood('NodeAffinity', "node(s) didn't match scheduler-enforced node affinity");
    return matchesRequiredNodeAffinity(affinity, node)
      ? undefined
      : forGood('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  };
}

function ports({ pod }: FilterInput): NodeFilter {
  return (node) =>
    pod.hostPorts.some((port) => node.usedPorts.some((other) => conflicts(port, other)))
      ? forNow('NodePorts', "node(s) didn't have free ports for the requested pod ports")
      : undefined;
}

function resources({ pod, profile }: FilterInput): NodeFilter {
  const requests = countedRequests(pod.requests, profile);
  return (node) => {
    const missing = insufficientResources(requests, { allocatable: node.allocatable, used: node.used, pods: node.pods.length });
    if (missing.length === 0) return undefined;
    const never = missing.some(({ resource, requested, capacity }) => resource !== 'pods' && requested > capacity);
    return {
      plugin: 'NodeResourcesFit',
      code: never ? 'UnschedulableAndUnresolvable' : 'Unschedulable',
      reasons: missing.map(({ resource }) => (resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`)),
    };
  };
}

/** Without extended resources that the profile ignores. */
function countedRequests(requests: Amounts, { ignoredResources, ignoredResourceGroups }: SchedulerProfile): Amounts {
  const isIgnored = (name: string): boolean =>
    name.includes('/') && (ignoredResources.includes(name) || ignoredResourceGroups.includes(name.split('/')[0] ?? ''));
  return new Map([...requests].filter(([name]) => !isIgnored(name)));
}

function spread({ pod, snapshot, constraints }: FilterInput): NodeFilter {
  const problemOf = spreadFilter(pod, constraints, snapshot.nodes);
  return (node) => {
    const text = "node(s) didn't match pod topology spread constraints";
    const problem = problemOf?.(node);
    if (problem === undefined) return undefined;
    return problem === 'skew' ? forNow('PodTopologySpread', text) : forGood('PodTopologySpread', `${text} (missing required label)`);
  };
}

function interPodAffinity({ pod, snapshot }: FilterInput): NodeFilter {
  const problemOf = affinityFilter(pod, snapshot);
  return (node) => {
    switch (problemOf(node)) {
      case undefined:
        return undefined;
      case 'affinity':
        return forGood('InterPodAffinity', "node(s) didn't match pod affinity rules");
      case 'anti-affinity':
        return forNow('InterPodAffinity', "node(s) didn't match pod anti-affinity rules");
      case 'existing-anti-affinity':
        return forNow('InterPodAffinity', "node(s) didn't satisfy existing pods anti-affinity rules");
    }
  };
}
