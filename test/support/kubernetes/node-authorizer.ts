import type { ApiObject, ObjectStore } from './objects.js';
import type { Resource } from './resources.js';

export const NODE = 'node-1';
export const KUBELET = `system:node:${NODE}`;

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** What a request is about: /api/v1/namespaces/NAMESPACE/pods/NAME/SUBRESOURCE. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** 'spec.nodeName=node-1'. Left out: none. */
  readonly fieldSelector?: string | null;
}

/** Whether a user may do it. */
export type Authorise = (user: string, verb: Verb, target: Target, store: ObjectStore) => boolean;

/**
 * Administrators and evictd may do all, the kubelet what the node authorizer permits it, with its selectors
 * (plugin/pkg/auth/authorizer/node, AuthorizeNodeWithSelectors, v1.34), and its rules (rbac/bootstrappolicy: NodeRules).
 */
export const authorise: Authorise = (user, verb, target, store) => {
  if (user !== KUBELET) return true;
  const { resource, subresource, namespace, name, fieldSelector } = target;
  const may = (...verbs: readonly Verb[]): boolean => verbs.includes(verb);
  switch (resource.group === '' ? resource.name : `${resource.name}.${resource.group}`) {
    case 'pods':
      if (subresource === 'status') return may('update', 'patch');
      if (subresource === 'eviction') return may('create');
      if (may('get')) return isOfNode(store.get('pods', namespace, name ?? ''));
      return may('create', 'delete') || (may('list', 'watch') && requires(fieldSelector, 'spec.nodeName'));
    case 'nodes':
      if (subresource === 'status') return may('update', 'patch');
      return (
        may('create', 'update', 'patch') ||
        (may('get') && name === NODE) ||
        (may('list', 'watch') && requires(fieldSelector, 'metadata.name'))
      );
    case 'leases.coordination.k8s.io':
      return namespace === 'kube-node-lease' && (may('create') || (may('get', 'update', 'patch', 'delete') && name === NODE));
    case 'events':
      return may('create', 'update', 'patch');
    case 'selfsubjectaccessreviews.authorization.k8s.io':
      return may('create');
    default:
      return false;
  }
};

/**
 * What the admission plug-in NodeRestriction refuses the kubelet (plugin/pkg/admission/noderestriction).
 *
 * @param before  the object as it is
 * @param after  undefined: it is deleted or evicted
 */
export function restriction(
  user: string,
  { resource, subresource, name }: Target,
  before: ApiObject,
  after?: ApiObject,
): string | undefined {
  if (user !== KUBELET) return undefined;
  if (resource.name === 'pods' && !isOfNode(before)) {
    const what = subresource === 'status' ? 'update pod status for pods' : `${subresource === 'eviction' ? 'evict' : 'delete'} pods`;
    return `node "${NODE}" can only ${what} with spec.nodeName set to itself`;
  }
  if (resource.name !== 'nodes') return undefined;
  if (name !== NODE) return `node "${NODE}" is not allowed to modify node "${name ?? ''}"`;
  const taints = (each: ApiObject): string => JSON.stringify(each.spec?.taints ?? []);
  return after && taints(after) !== taints(before) ? `node "${NODE}" is not allowed to modify taints` : undefined;
}

function isOfNode(pod: ApiObject | undefined): boolean {
  return pod?.spec?.nodeName === NODE;
}

function requires(fieldSelector: string | null | undefined, field: string): boolean {
  return (fieldSelector ?? '').split(',').some((one) => new RegExp(`^${field.replace('.', '\\.')}==?${NODE}$`).test(one));
}
