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

/** A metav1.Status. With `details.retryAfterSeconds` the answer has the header Retry-After (responsewriters/status.go). */
export function failure(code: number, message: string, details?: object, reason = REASONS[code] ?? ''): Answer {
  const { retryAfterSeconds } = (details ?? {}) as { readonly retryAfterSeconds?: number };
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  return {
    code,
    body: { ...body, ...(reason !== '' && { reason }), ...(details && { details }) },
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(retryAfterSeconds) } }),
  };
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
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (uid !== undefined && uid !== pod.metadata.uid) return conflict(pod, 'UID', uid, pod.metadata.uid);
  const { resourceVersion: version } = pod.metadata;
  if (resourceVersion !== undefined && resourceVersion !== version) return conflict(pod, 'ResourceVersion', resourceVersion, version);
  if (options.dryRun !== undefined) return { code: 200, body: pod };
  const isOver = ['Succeeded', 'Failed'].includes(String(pod.status?.phase)) || pod.spec?.nodeName === undefined;
  const asked = options.gracePeriodSeconds ?? Number(pod.spec?.terminationGracePeriodSeconds ?? 30);
  const grace = isOver ? 0 : asked < 0 ? 1 : asked;
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

function conflict({ metadata }: ApiObject, what: string, asked: string, is = ''): Answer {
  const meant = `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${is}`;
  return failure(409, `Operation cannot be fulfilled on pods "${metadata.name}": ${meant}`, { name: metadata.name, kind: 'pods' });
}
