import type { KubernetesStatus } from '../../core/kubernetes/kubernetes-status.js';
import { EVICTION_REFUSALS } from '../../core/kubernetes/eviction-answer.js';
import { eventCounter, gauge, readCounter, type Latest, type Metric, type Sample } from '../metric-types.js';

const NS_PER_SECOND = 1e9;

/** Samples only where an API server is configured. */
const known =
  (samples: (status: KubernetesStatus) => readonly Sample[]) =>
  ({ kubernetes }: Pick<Latest, 'kubernetes'>): readonly Sample[] => {
    const status = kubernetes();
    return status === undefined ? [] : samples(status);
  };

export const KUBERNETES_METRICS: readonly Metric[] = [
  gauge(
    'evictd_kubernetes_api_answers',
    '1 if the API server has answered the last request for the pods of this node, else 0.',
    known(({ answers }) => [[answers ? 1 : 0]]),
  ),
  gauge(
    'evictd_kubernetes_pods',
    'Pods of this node that the API server has reported.',
    known(({ pods }) => [[pods]]),
  ),
  gauge(
    'evictd_kubernetes_pods_age_seconds',
    'Time since the API server has confirmed the pods.',
    known(({ podsAgeNs }) => [[podsAgeNs === undefined ? undefined : Number(podsAgeNs) / NS_PER_SECOND]]),
  ),
  gauge(
    'evictd_kubernetes_pending_deletions',
    'Evicted pods that are not deleted at the API server yet: the kubelet may start them again.',
    known(({ pendingDeletions }) => [[pendingDeletions]]),
  ),
  eventCounter(
    'evictd_kubernetes_pod_restarts_total',
    'Evicted pods that the kubelet has started again, because their deletion came later.',
    [],
    { podRestarted: () => [1] },
    ({ kubernetes }) => (kubernetes() === undefined ? [] : [[]]),
  ),
  readCounter(
    'evictd_kubernetes_pod_lists_total',
    'Full lists of the pods of this node: one at the start, more after a failed watch.',
    known(({ lists }) => [[lists]]),
  ),
  eventCounter(
    'evictd_kubernetes_evictions_refused_total',
    'Evictions of pods that the API server has refused, by reason.',
    ['reason'],
    { podEvictionRefused: (reason) => [1, reason] },
    ({ kubernetes }) => (kubernetes() === undefined ? [] : EVICTION_REFUSALS.map((reason) => [reason])),
  ),
  readCounter(
    'evictd_kubernetes_requests_total',
    "Requests to the API server by method and the code of the answer; 'none': no answer.",
    known(({ requests }) => requests),
    ['method', 'code'],
  ),
];
