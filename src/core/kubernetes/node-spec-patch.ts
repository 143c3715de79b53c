import { isSameTaint, type Taint } from '../disruption/taint.js';
import { isCordonedByEvictd, nodePath } from './node-condition-patch.js';
import type { ApiCall } from './pod-call.js';

/** A taint of a node as the API server has it. Taints of other programs may have more fields, which stay. */
type NodeTaint = Readonly<Record<string, unknown>> & { readonly key: string; readonly effect: string };

interface ApiNode {
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  readonly spec?: { readonly taints?: readonly NodeTaint[]; readonly unschedulable?: boolean };
}

/**
 * The patch that sets a taint and removes others; undefined: nothing to change, or `node` is not a node. It is a JSON merge patch
 * of the whole list with the resource version of the node. The server answers 409 where another program has changed the node since:
 * then read the node again. (A strategic merge or a forced apply would replace the list, and the taints of others with it.)
 *
 * @param node  as the API server has answered
 * @param set  undefined: none
 */
export function taintPatch(node: unknown, set: Taint | undefined, removed: readonly Taint[], now: string): ApiCall | undefined {
  const { spec } = (node ?? {}) as ApiNode;
  const before = spec?.taints ?? [];
  const isOf = (other: NodeTaint, taint: Taint): boolean => isSameTaint(other as unknown as Taint, taint);
  const isSet = set === undefined || before.some((other) => isOf(other, set) && (other.value ?? '') === set.value);
  const own = [...(set && !isSet ? [set] : []), ...removed.filter((one) => set === undefined || !isSameTaint(one, set))];
  const others = before.filter((other) => !own.some((taint) => isOf(other, taint)));
  if (isSet && others.length === before.length) return undefined;
  if (isSet) return specPatch(node, { taints: others });
  const { key, value, effect } = set;
  return specPatch(node, { taints: [...others, { key, ...(value !== '' && { value }), effect, timeAdded: now }] });
}

/**
 * The patch that cordons the node, or takes that back, where the node has the condition that evictd sets before. undefined: nothing is
 * to be changed, or another program has cordoned it.
 *
 * @param node  as the API server has answered
 */
export function cordonPatch(node: unknown, isWanted: boolean): ApiCall | undefined {
  const isCordoned = ((node ?? {}) as ApiNode).spec?.unschedulable === true;
  if (isWanted === isCordoned || !isCordonedByEvictd(node)) return undefined;
  return specPatch(node, { unschedulable: isWanted ? true : null });
}

function specPatch(node: unknown, spec: object): ApiCall | undefined {
  const { metadata } = (node ?? {}) as ApiNode;
  if (typeof metadata?.name !== 'string' || typeof metadata.resourceVersion !== 'string') return undefined;
  return {
    method: 'PATCH',
    path: nodePath(metadata.name),
    contentType: 'application/merge-patch+json',
    body: { metadata: { resourceVersion: metadata.resourceVersion }, spec },
  };
}
