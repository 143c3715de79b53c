// The filters of the default profile that look at one node at a time (pkg/scheduler/framework/plugins, v1.36.2).
import { findMatchingUntoleratedTaint } from '../../disruption/toleration.js';
import { conflicts } from '../host-port.js';
import { matchesRequiredNodeAffinity, matchesTerm } from '../node-affinity.js';
import { insufficientResources, isExtendedResource, orderedRequests, type Amounts } from '../node-fit.js';
import type { SchedulerProfile } from '../scheduler-profile.js';
import { unresolvable, unschedulable, type FilterPlugin, type Rejection } from './pod-filter.js';

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' } as const;

const CORDONED = unresolvable('NodeUnschedulable', 'node(s) were unschedulable');

export const nodeUnschedulable: FilterPlugin = ({ pod }) => {
  if (findMatchingUntoleratedTaint([UNSCHEDULABLE], pod.tolerations, ['NoSchedule']) === undefined) return undefined;
  return { check: ({ node }) => (node.unschedulable ? CORDONED : undefined) };
};

const OTHER_NAME = unresolvable('NodeName', "node(s) didn't match the requested node name");

export const nodeName: FilterPlugin = ({ pod }) =>
  pod.nodeName === '' ? undefined : { check: ({ node }) => (node.name === pod.nodeName ? undefined : OTHER_NAME) };

const TAINTED = unresolvable('TaintToleration', 'node(s) had untolerated taint(s)');

export const taintToleration: FilterPlugin = ({ pod }) => ({
  check: ({ node }) =>
    findMatchingUntoleratedTaint(node.taints, pod.tolerations, ['NoSchedule', 'NoExecute']) === undefined ? undefined : TAINTED,
});

const NOT_ENFORCED = unresolvable('NodeAffinity', "node(s) didn't match scheduler-enforced node affinity");
const NO_AFFINITY = unresolvable('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");

export const nodeAffinity: FilterPlugin = ({ pod: { requiredNodeAffinity }, profile: { addedNodeTerms } }) => ({
  check: ({ node }) => {
    if (addedNodeTerms !== undefined && !addedNodeTerms.some((term) => matchesTerm(term, node))) return NOT_ENFORCED;
    return matchesRequiredNodeAffinity(requiredNodeAffinity, node) ? undefined : NO_AFFINITY;
  },
});

const NO_PORT = unschedulable('NodePorts', "node(s) didn't have free ports for the requested pod ports");

export const nodePorts: FilterPlugin = ({ pod: { hostPorts } }) => {
  if (hostPorts.length === 0) return undefined;
  return {
    check: ({ usedPorts }) => {
      for (const used of usedPorts) if (hostPorts.some((port) => conflicts(port, used))) return NO_PORT;
      return undefined;
    },
  };
};

const NO_FEATURE = unresolvable('NodeDeclaredFeatures', "node(s) didn't match Pod's required features");

export const nodeDeclaredFeatures: FilterPlugin = ({ pod: { requiredFeatures } }) => {
  if (requiredFeatures.length === 0) return undefined;
  return {
    check: ({ node }) => (requiredFeatures.every((feature) => node.declaredFeatures.has(feature)) ? undefined : NO_FEATURE),
  };
};

export const nodeResourcesFit: FilterPlugin = ({ pod, profile }) => {
  const requests = orderedRequests(countedRequests(pod.requests, profile));
  return {
    check: ({ node, used, pods }): Rejection | undefined => {
      const missing = insufficientResources(requests, { allocatable: node.allocatable, used, pods: pods.size });
      if (missing.length === 0) return undefined;
      const never = missing.some(({ resource, requested, capacity }) => resource !== 'pods' && requested > capacity);
      return {
        plugin: 'NodeResourcesFit',
        code: never ? 'UnschedulableAndUnresolvable' : 'Unschedulable',
        reasons: missing.map(({ resource }) => (resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`)),
      };
    },
  };
};

/** The requests without extended resources that the profile ignores. */
function countedRequests(requests: Amounts, { ignoredResources, ignoredResourceGroups }: SchedulerProfile): Amounts {
  const isIgnored = (name: string): boolean =>
    isExtendedResource(name) && (ignoredResources.includes(name) || ignoredResourceGroups.includes(name.split('/')[0] ?? ''));
  return new Map([...requests].filter(([name]) => !isIgnored(name)));
}
