import { EvictdError } from '../../../errors.js';
import { documentOf, items, member, textOf, type Field } from '../../../kubernetes/document.js';
import { ApiClient, type ApiAnswer, type ApiRequest } from '../client/api-client.js';
import type { ReadAccess } from '../client/access.js';
import type { ClusterDump } from './cluster-dump.js';

interface Listed {
  readonly path: string;
  readonly kind: string;
  readonly apiVersion: string;
  /** Without these there is nothing to simulate. */
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
const [FOUND, NOT_FOUND, GONE] = [200, 404, 410];

/** What a caller has for the cluster. */
export interface LiveLimits {
  /** For all answers together; left out: a minute for each. */
  readonly withinMs?: number;
  /** Of 500 objects; left out: any number. */
  readonly mostPages?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal;
  /** Kinds that the caller does not need. */
  readonly without?: readonly string[];
}

/** As kube-controller-manager's client. */
const RATE = { perSecond: 20, burst: 30 };

type Ask = (asked: Pick<ApiRequest, 'path' | 'query'>) => Promise<ApiAnswer>;

/**
 * Lists the objects of a cluster, page by page. What may not be listed is a finding.
 *
 * @throws EvictdError  the API server does not answer, does not give nodes or pods, or has more pages
 */
export async function readLiveCluster(access: ReadAccess, dump: ClusterDump, limits: LiveLimits = {}): Promise<void> {
  const { withinMs, mostPages = Infinity, signal, without = [] } = limits;
  const client = new ApiClient(access, undefined, RATE);
  const stop = (): void => {
    client.close();
  };
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  const endsMs = withinMs === undefined ? undefined : performance.now() + withinMs;
  let pages = 0;
  const ask: Ask = async (asked) => {
    pages += 1;
    if (pages > mostPages) {
      const message = `the cluster has more than ${String(mostPages)} pages of ${PAGE} objects`;
      throw new EvictdError('EVICTD_KUBERNETES_SIZE', message, { hint: 'evictd simulate reads a cluster of any size' });
    }
    const left = endsMs === undefined ? WITHIN_MS : Math.max(1, Math.round(endsMs - performance.now()));
    return client.ask({ method: 'GET', ...asked, withinMs: left });
  };
  try {
    for (const listed of LISTED) if (!without.includes(listed.kind)) await list(ask, listed, dump);
  } finally {
    signal?.removeEventListener('abort', stop);
    client.close();
  }
}

async function list(ask: Ask, listed: Listed, dump: ClusterDump): Promise<void> {
  const { path, kind, apiVersion } = listed;
  let count = 0;
  for (let more: Readonly<Record<string, string>> | undefined = {}; more !== undefined;) {
    const answer: ApiAnswer = await ask({ path, query: { limit: PAGE, ...more } });
    // The pages have expired: what came so far counts, and is read again.
    if (answer.status === GONE && more.continue !== undefined) {
      more = {};
      continue;
    }
    if (answer.status !== FOUND) {
      refused(listed, answer, dump);
      return;
    }
    const page: Field = documentOf(answer.body);
    for (const { value } of items(member(page, 'items'))) {
      count += 1;
      dump.take({ kind, apiVersion, object: documentOf(value), at: { file: path, line: count, column: 1 } });
    }
    const token: string = textOf(member(member(page, 'metadata'), 'continue'));
    more = token === '' ? undefined : { continue: token };
  }
}

function refused({ path, kind, isRequired, isOptional }: Listed, { status, body }: ApiAnswer, dump: ClusterDump): void {
  if (isOptional && status === NOT_FOUND) return;
  const said = textOf(member(documentOf(typeof body === 'object' ? body : undefined), 'message'));
  const message = `${kind}: HTTP ${String(status)}${said === '' ? '' : `: ${said}`}`;
  if (isRequired)
    throw new EvictdError('EVICTD_KUBERNETES_REFUSED', `${path}: ${message}`, {
      hint: 'the credential must be allowed to list nodes and pods',
    });
  dump.findings.add('warning', { file: path, line: 1, column: 1 }, '', `${message}: objects of this kind are left out`);
}
