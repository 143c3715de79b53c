import { setTimeout } from 'node:timers/promises';
import { DocumentError, EvictdError } from '../../../errors.js';
import { documentOf, items, member, textOf, type Field } from '../../../kubernetes/document.js';
import { ApiClient, type ApiAnswer, type ApiRequest } from '../client/api-client.js';
import type { ReadAccess } from '../client/access.js';
import type { ClusterDump } from './cluster-dump.js';

interface Listed {
  readonly path: string;
  readonly kind: string;
  readonly apiVersion: string;
  /** Whether the simulation needs these objects. */
  readonly isRequired?: true;
  /** Many clusters have none. */
  readonly isOptional?: true;
}

const LISTED: readonly Listed[] = [
  { path: '/api/v1/nodes', kind: 'Node', apiVersion: 'v1', isRequired: true },
  { path: '/api/v1/pods', kind: 'Pod', apiVersion: 'v1', isRequired: true },
  { path: '/apis/policy/v1/poddisruptionbudgets', kind: 'PodDisruptionBudget', apiVersion: 'policy/v1' },
  { path: '/apis/scheduling.k8s.io/v1/priorityclasses', kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1' },
  { path: '/api/v1/namespaces', kind: 'Namespace', apiVersion: 'v1' },
  { path: '/api/v1/services', kind: 'Service', apiVersion: 'v1' },
  { path: '/api/v1/replicationcontrollers', kind: 'ReplicationController', apiVersion: 'v1' },
  { path: '/apis/apps/v1/replicasets', kind: 'ReplicaSet', apiVersion: 'apps/v1' },
  { path: '/apis/apps/v1/statefulsets', kind: 'StatefulSet', apiVersion: 'apps/v1' },
  ...[
    ['resourceclaims', 'ResourceClaim'] as const,
    ['resourceclaimtemplates', 'ResourceClaimTemplate'] as const,
    ['deviceclasses', 'DeviceClass'] as const,
    ['resourceslices', 'ResourceSlice'] as const,
  ].map(([name, kind]): Listed => {
    return { path: `/apis/resource.k8s.io/v1/${name}`, kind, apiVersion: 'resource.k8s.io/v1', isOptional: true };
  }),
  { path: '/api/v1/persistentvolumeclaims', kind: 'PersistentVolumeClaim', apiVersion: 'v1' },
  { path: '/api/v1/persistentvolumes', kind: 'PersistentVolume', apiVersion: 'v1' },
  ...[
    ['storageclasses', 'StorageClass'] as const,
    ['csinodes', 'CSINode'] as const,
    ['csidrivers', 'CSIDriver'] as const,
    ['csistoragecapacities', 'CSIStorageCapacity'] as const,
  ].map(([name, kind]): Listed => ({ path: `/apis/storage.k8s.io/v1/${name}`, kind, apiVersion: 'storage.k8s.io/v1' })),
  { path: '/apis/metrics.k8s.io/v1beta1/pods', kind: 'PodMetrics', apiVersion: 'metrics.k8s.io/v1beta1', isOptional: true },
];

const PAGE = '500';
const WITHIN_MS = 60_000;
const [FOUND, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE, TOO_MANY_REQUESTS] = [200, 401, 403, 404, 410, 429];

/** What a caller has for the cluster. */
export interface LiveLimits {
  /** The timeout for all answers together; left out: a minute for each. */
  readonly withinMs?: number;
  /** The maximum number of pages of 500 objects; left out: any number. */
  readonly mostPages?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal;
  /** Kinds that the caller does not need. */
  readonly without?: readonly string[];
}

/** The rate of kube-controller-manager's client. */
const RATE = { perSecond: 20, burst: 30 };
/** Retries of a request that the server answers with Retry-After, as in client-go. */
const RETRIES = 10;

type Ask = (asked: Pick<ApiRequest, 'path' | 'query'>) => Promise<ApiAnswer>;

/**
 * Lists the objects of a cluster, page by page. What may not be listed is a finding.
 *
 * @throws EvictdError  the API server does not answer, does not give nodes or pods, or has more pages
 */
export async function readLiveCluster(access: ReadAccess, dump: ClusterDump, limits: LiveLimits = {}): Promise<void> {
  const { signal, without = [] } = limits;
  const client = new ApiClient(access, undefined, RATE);
  const stop = (): void => {
    client.close();
  };
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  const ask = askOf(client, limits);
  try {
    for (const listed of LISTED) if (!without.includes(listed.kind)) await list(ask, listed, dump);
  } finally {
    signal?.removeEventListener('abort', stop);
    client.close();
  }
}

/** Asks within the limits, and names the server that does not answer. */
function askOf(client: ApiClient, { withinMs, mostPages = Infinity, signal }: LiveLimits): Ask {
  const endsMs = withinMs === undefined ? undefined : performance.now() + withinMs;
  let pages = 0;
  const answerTo: Ask = async (asked) => {
    const left = endsMs === undefined ? WITHIN_MS : Math.max(1, Math.round(endsMs - performance.now()));
    try {
      return await client.ask({ method: 'GET', ...asked, withinMs: left });
    } catch (cause) {
      if (!(cause instanceof EvictdError) || cause.code !== 'EVICTD_KUBERNETES_UNREACHABLE') throw cause;
      const server = client.server === undefined ? '' : ` ${client.server}`;
      const hint = 'check the network and the API server: kubectl get --raw /readyz';
      throw new EvictdError(cause.code, `the API server${server}: ${cause.message}`, { hint, cause });
    }
  };
  return async (asked) => {
    pages += 1;
    if (pages > mostPages) {
      const message = `the cluster has more than ${String(mostPages)} pages of ${PAGE} objects`;
      throw new EvictdError('EVICTD_KUBERNETES_SIZE', message, { hint: 'evictd simulate reads a cluster of any size' });
    }
    for (let tries = 0; ; tries += 1) {
      const answer = await answerTo(asked);
      const { status, retryAfterSeconds } = answer;
      if (retryAfterSeconds === undefined || status < TOO_MANY_REQUESTS || tries === RETRIES) return answer;
      await setTimeout(retryAfterSeconds * 1_000, undefined, { ...(signal && { signal }) }).catch(() => undefined);
    }
  };
}

async function list(ask: Ask, listed: Listed, dump: ClusterDump): Promise<void> {
  const { path, kind, apiVersion } = listed;
  for (let token: string | undefined; token !== '';) {
    const answer: ApiAnswer = await ask({ path, query: { limit: PAGE, ...(token !== undefined && { continue: token }) } });
    try {
      const page: Field = documentOf(answer.body);
      token = textOf(member(member(page, 'metadata'), 'continue'));
      // The pages have expired: the answer has a token for the rest, as it is now.
      if (answer.status === GONE && token !== '') continue;
      if (answer.status !== FOUND) {
        refused(listed, answer.status, textOf(member(page, 'message')), dump);
        return;
      }
      for (const { value } of items(member(page, 'items'))) dump.take({ kind, apiVersion, object: documentOf(value), at: { file: path } });
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      refused(listed, answer.status, answer.status === FOUND ? error.message : '', dump);
      return;
    }
  }
}

function refused({ path, kind, isRequired, isOptional }: Listed, status: number, said: string, dump: ClusterDump): void {
  if (isOptional && status === NOT_FOUND) return;
  const message = `HTTP ${String(status)}${said === '' ? '' : `: ${said}`}`;
  if (isRequired) throw new EvictdError('EVICTD_KUBERNETES_REFUSED', `${path}: ${message}`, { hint: hintFor(status, path) });
  dump.findings.add('warning', { file: path }, '', `${kind}: ${message}: objects of this kind are left out`);
}

function hintFor(status: number, path: string): string {
  if (status === UNAUTHORIZED) return 'the API server does not accept the credential: kubectl auth whoami';
  if (status === FORBIDDEN) return 'the credential must be allowed to list nodes and pods';
  const question = status === FOUND || status === NOT_FOUND ? 'is it the URL of an API server? ' : '';
  return `${question}kubectl get --raw ${path} must work`;
}
