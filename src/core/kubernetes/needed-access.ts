import type { KubernetesConfig } from './kubernetes-config.js';
import type { NodePod } from './node-pod.js';

/** resourceAttributes of a SelfSubjectAccessReview (authorization.k8s.io/v1). */
export interface AccessAttributes {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: object;
}

export interface NeededAccess {
  readonly attributes: AccessAttributes;
  /** What evictd uses where `attributes` are refused. Left out: nothing. */
  readonly orElse?: AccessAttributes;
  /** What happens without it. */
  readonly without: string;
}

const RESTARTED = 'the kubelet starts an evicted pod again';
const EVENTS = 'events.k8s.io';
const CORDON = 'evictd drain does not cordon the node in the cluster';

/**
 * What the credential must permit for this configuration.
 *
 * @param pod  of the node: the Node authorizer permits a kubelet to read each of them, and not all pods. undefined: none is known
 */
export function neededAccess(
  { budgets, taint, conditions }: KubernetesConfig,
  nodeName: string,
  pod: Pick<NodePod, 'namespace' | 'name'> | undefined,
): readonly NeededAccess[] {
  const pods = { resource: 'pods' };
  const node = { resource: 'nodes', name: nodeName };
  const events = { group: EVENTS, resource: 'events' };
  // The Node authorizer permits a kubelet to list only the pods of its node (AuthorizeNodeWithSelectors, v1.32).
  const ofNode = { fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: [nodeName] }] } };
  const needed: readonly (readonly [without: string, isUsed: boolean, ...attributes: AccessAttributes[]])[] = [
    ['evictd knows and evicts no pod', true, { verb: 'list', ...pods, ...ofNode }, { verb: 'watch', ...pods, ...ofNode }],
    [RESTARTED, pod !== undefined, { verb: 'get', ...pods, ...(pod && { namespace: pod.namespace, name: pod.name }) }],
    [RESTARTED, true, { verb: 'delete', ...pods }],
    ['an evicted pod has no condition DisruptionTarget', true, { verb: 'patch', ...pods, subresource: 'status' }],
    ['soft evictions, drains and evictd evict fail for pods', budgets === 'respect', { verb: 'create', ...pods, subresource: 'eviction' }],
    [`${CORDON}, and the node gets neither taint nor conditions`, true, { verb: 'get', ...node }],
    [taint === undefined ? CORDON : `${CORDON}, and the node gets no taint`, true, { verb: 'patch', ...node }],
    [
      conditions === 'none' ? CORDON : `${CORDON}, and the node gets no conditions`,
      true,
      { verb: 'patch', ...node, subresource: 'status' },
    ],
    ['there are no events', true, { verb: 'create', ...events }, { verb: 'patch', ...events }],
  ];
  return needed.flatMap(([without, isUsed, ...attributes]) => (isUsed ? attributes.map((each) => neededOf(each, without)) : []));
}

/** A kubelet's credential permits events in the core group only. */
function neededOf(attributes: AccessAttributes, without: string): NeededAccess {
  const { group, ...rest } = attributes;
  return { attributes, without, ...(group === EVENTS && { orElse: rest }) };
}

/** The access that evictd needs to count violated budgets. It is optional: a kubelet's credential does not permit it. */
export const BUDGETS_ACCESS: AccessAttributes = { verb: 'list', group: 'policy', resource: 'poddisruptionbudgets' };

/** What `could run now` must permit beside. It is optional. */
export const COULD_RUN_ACCESS: readonly AccessAttributes[] = [
  { verb: 'list', resource: 'nodes' },
  { verb: 'list', resource: 'pods' },
];

/** Access that evictd never asks for, and that makes a stolen credential dangerous. For all namespaces. */
export const EXCESSIVE_ACCESS: readonly AccessAttributes[] = [
  { verb: 'delete', resource: 'nodes' },
  { verb: 'list', resource: 'secrets' },
  { verb: 'patch', resource: 'pods' },
];

/** 'patch pods/status' */
export function accessText({ verb, group, resource, subresource }: AccessAttributes): string {
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}${group === undefined ? '' : `.${group}`}`;
}
