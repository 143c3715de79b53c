import type { ApiObject, ObjectStore } from './objects.js';

/** What the server answers: a status code, a body and headers. */
export interface Answer {
  readonly code: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** A metav1.Status. */
export function failure(code: number, message: string, details?: object, reason = REASONS[code] ?? ''): Answer {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code, ...(details && { details }) };
  return { code, body };
}

export function success(code = 200): Answer {
  return { code, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code } };
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

/**
 * Deletes a pod as the API server does: with a grace it only notes when, and the kubelet removes it. A second DELETE can
 * shorten the grace (registry/rest: BeforeDelete).
 */
export function deletePod(store: ObjectStore, pod: ApiObject, options: DeleteOptions): Answer {
  const { uid } = options.preconditions ?? {};
  if (uid !== undefined && uid !== pod.metadata.uid) return conflict(pod, uid);
  if (options.dryRun !== undefined) return { code: 200, body: pod };
  const isOver = ['Succeeded', 'Failed'].includes(String(pod.status?.phase)) || pod.spec?.nodeName === undefined;
  const asked = options.gracePeriodSeconds ?? Number(pod.spec?.terminationGracePeriodSeconds ?? 30);
  const grace = isOver ? 0 : Math.max(0, asked);
  if (grace === 0) {
    store.remove('pods', pod);
    return { code: 200, body: pod };
  }
  const { deletionGracePeriodSeconds: before } = pod.metadata as { deletionGracePeriodSeconds?: number };
  if (before !== undefined && before <= grace) return { code: 200, body: pod };
  const deletionTimestamp = new Date(Date.now() + grace * 1_000).toISOString().replace(/\.\d+/, '');
  const metadata = { ...pod.metadata, deletionGracePeriodSeconds: grace, deletionTimestamp };
  return { code: 200, body: store.put('pods', { ...pod, metadata }) };
}

function conflict({ metadata }: ApiObject, uid: string): Answer {
  const meant = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${String(metadata.uid)}`;
  return failure(409, `Operation cannot be fulfilled on pods "${metadata.name}": ${meant}`, { name: metadata.name, kind: 'pods' });
}

/** The subresource eviction (registry/core/pod/storage/eviction.go). Budgets are checked before the uid. */
export function evictPod(store: ObjectStore, pod: ApiObject, options: DeleteOptions): Answer {
  const ignoresBudgets = ['Succeeded', 'Failed', 'Pending'].includes(String(pod.status?.phase)) || 'deletionTimestamp' in pod.metadata;
  const budgets = ignoresBudgets ? [] : store.list('poddisruptionbudgets', pod.metadata.namespace).filter((budget) => selects(budget, pod));
  if (budgets.length > 1) {
    return failure(500, 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  }
  const [budget] = budgets;
  if (budget !== undefined) {
    const refusal = refusedBy(budget);
    if (refusal !== undefined) return refusal;
  }
  const answer = deletePod(store, pod, options);
  if (answer.code !== 200) return answer;
  if (budget !== undefined && options.dryRun === undefined) {
    const { disruptionsAllowed, disruptedPods } = budget.status as { disruptionsAllowed: number; disruptedPods?: object };
    const disrupted = { ...disruptedPods, [pod.metadata.name]: new Date().toISOString() };
    store.put('poddisruptionbudgets', {
      ...budget,
      status: { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods: disrupted },
    });
  }
  return success(201);
}

function refusedBy(budget: ApiObject): Answer | undefined {
  const { name, generation = 1 } = budget.metadata;
  const { observedGeneration = 0, disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  const refused = (message: string): Answer =>
    failure(429, "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [{ reason: 'DisruptionBudget', message }],
    });
  if (Number(observedGeneration) < generation) {
    return { ...refused(`The disruption budget ${name} is still being processed by the server.`), headers: { 'retry-after': '10' } };
  }
  if (Number(disruptionsAllowed) > 0) return undefined;
  return refused(`The disruption budget ${name} needs ${String(desiredHealthy)} healthy pods and has ${String(currentHealthy)} currently`);
}

function selects(budget: ApiObject, pod: ApiObject): boolean {
  const wanted = (budget.spec?.selector as { matchLabels?: Record<string, string> } | undefined)?.matchLabels ?? {};
  const labels = (pod.metadata.labels ?? {}) as Record<string, string>;
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
