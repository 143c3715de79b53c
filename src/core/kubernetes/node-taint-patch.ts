import { isSameTaint, type Taint } from '../disruption/taint.js';
import type { ApiCall } from './pod-call.js';

/** A taint of a node as the API server has it. Taints of other programs may have more fields, which stay. */
type NodeTaint = Readonly<Record<string, unknown>> & { readonly key: string; readonly effect: string };

/**
 * The patch that sets or removes one taint; undefined: nothing is to be changed, or `node` is no node. It is a JSON merge patch of
 * the whole list with the resource version of the node. The server answers 409 where another program has changed the node since:
 * then read the node again. (A strategic merge or a forced apply would replace the list, and the taints of others with it.)
 *
 * @param node  as the API server has answered
 */
export function taintPatch(node: unknown, taint: Taint, isSet: boolean, now: string): ApiCall | undefined {
  const { metadata, spec } = (node ?? {}) as {
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
    readonly spec?: { readonly taints?: readonly NodeTaint[] };
  };
  if (typeof metadata?.name !== 'string' || typeof metadata.resourceVersion !== 'string') return undefined;
  const before = spec?.taints ?? [];
  const others = before.filter((other) => !isSameTaint(other as unknown as Taint, taint));
  const own = before.find((other) => isSameTaint(other as unknown as Taint, taint));
  if (isSet ? own !== undefined && (own.value ?? '') === taint.value : own === undefined) return undefined;
  const { key, value, effect } = taint;
  const set = { key, ...(value !== '' && { value }), effect, timeAdded: now };
  return {
    method: 'PATCH',
    path: nodePath(metadata.name),
    contentType: 'application/merge-patch+json',
    body: { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints: isSet ? [...others, set] : others } },
  };
}

export function nodePath(name: string): string {
  return `/api/v1/nodes/${encodeURIComponent(name)}`;
}
