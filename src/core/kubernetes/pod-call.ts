import type { PendingDeletion, PodName } from './pending-deletion.js';

/** A request to an API server. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly contentType?: string;
  readonly body?: unknown;
}

const CONDITION = 'DisruptionTarget';

/** The next call for an evicted pod. @param now  in RFC 3339 */
export function nextCall(pod: PendingDeletion, now: string): ApiCall {
  return pod.next === 'condition'
    ? podStatusCall(pod, { conditions: [disruptionTarget(pod.reason, pod.message || 'evicted by evictd', now)] })
    : deleteCall(pod, pod.graceSeconds);
}

export function readPodCall(pod: PodName): ApiCall {
  return { method: 'GET', path: podPath(pod) };
}

/** The condition that says why a pod is deleted. @param now  in RFC 3339 */
export function disruptionTarget(reason: string, message: string, now: string): object {
  return { type: CONDITION, status: 'True', reason, message, lastTransitionTime: now };
}

/** The list of conditions is merged by type, so that the others stay. */
export function podStatusCall(pod: PodName, status: object): ApiCall {
  return {
    method: 'PATCH',
    path: `${podPath(pod)}/status`,
    contentType: 'application/strategic-merge-patch+json',
    body: { metadata: { uid: pod.uid }, status },
  };
}

/** @param graceSeconds  undefined: the pod's own grace period */
export function deleteCall(pod: PodName, graceSeconds?: number): ApiCall {
  return { method: 'DELETE', path: podPath(pod), body: { apiVersion: 'v1', kind: 'DeleteOptions', ...optionsOf(pod, graceSeconds) } };
}

/** Asks the disruption budgets, and deletes the pod if they permit it (policy/v1). */
export function evictCall(pod: PodName, graceSeconds: number): ApiCall {
  const { namespace, name } = pod;
  return {
    method: 'POST',
    path: `${podPath(pod)}/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions: optionsOf(pod, graceSeconds) },
  };
}

/** The pod in the answer to `readPodCall`. undefined: the answer is not a pod. */
export function podNow(body: unknown): { uid: string; graceSeconds: number | undefined; hasCondition: boolean } | undefined {
  const { metadata, status } = (body ?? {}) as {
    readonly metadata?: { readonly uid?: string; readonly deletionTimestamp?: string; readonly deletionGracePeriodSeconds?: number };
    readonly status?: { readonly conditions?: unknown } | null;
  };
  if (typeof metadata?.uid !== 'string') return undefined;
  const { uid, deletionTimestamp, deletionGracePeriodSeconds: seconds } = metadata;
  const hasCondition = listOf(status?.conditions).some(
    (one: { readonly type?: unknown; readonly status?: unknown }) => one.type === CONDITION && one.status === 'True',
  );
  return { uid, graceSeconds: deletionTimestamp === undefined ? undefined : (seconds ?? 0), hasCondition };
}

/** The objects of a list; empty if the document is not a list. */
export function listOf(value: unknown): readonly object[] {
  return Array.isArray(value) ? value.filter((one): one is object => typeof one === 'object' && one !== null) : [];
}

function optionsOf({ uid }: PodName, gracePeriodSeconds: number | undefined): object {
  return { ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }), preconditions: { uid } };
}

function podPath({ namespace, name }: PodName): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}
