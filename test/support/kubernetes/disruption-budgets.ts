import { deletePod, failure, success, type Answer, type DeleteOptions } from './answers.js';
import type { ApiObject, ObjectStore } from './objects.js';

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Budget {
  readonly selector?: {
    readonly matchLabels?: Readonly<Record<string, string>>;
    readonly matchExpressions?: readonly Requirement[];
  } | null;
  readonly unhealthyPodEvictionPolicy?: string;
}

interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: object;
}

/** The subresource eviction (registry/core/pod/storage/eviction.go). Budgets are checked before the uid. */
export function evictPod(store: ObjectStore, pod: ApiObject, options: DeleteOptions): Answer {
  const isOver = ['Succeeded', 'Failed', 'Pending'].includes(String(pod.status?.phase)) || 'deletionTimestamp' in pod.metadata;
  const budgets = isOver ? [] : store.list('poddisruptionbudgets', pod.metadata.namespace).filter((budget) => selects(budget, pod));
  if (budgets.length > 1) {
    return failure(500, 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.', undefined, '');
  }
  const [budget] = budgets.filter((one) => isReady(pod) || !permitsUnready(one));
  const refusal = budget && refusedBy(budget);
  if (refusal !== undefined) return refusal;
  const answer = deletePod(store, pod, options);
  if (answer.code !== 200) return answer;
  if (budget !== undefined && options.dryRun === undefined) {
    const { disruptionsAllowed = 0, disruptedPods } = budget.status as BudgetStatus;
    const disrupted = { ...disruptedPods, [pod.metadata.name]: new Date().toISOString() };
    const status = { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods: disrupted };
    store.put('poddisruptionbudgets', { ...budget, status });
  }
  return success(201);
}

function isReady({ status }: ApiObject): boolean {
  const conditions = (status?.conditions ?? []) as readonly { readonly type: string; readonly status: string }[];
  return conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
}

/** Of a pod that is not ready: it does not count as healthy, so its eviction may need no budget. */
function permitsUnready({ spec, status }: ApiObject): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = (status ?? {}) as BudgetStatus;
  return (
    (spec as Budget | undefined)?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (currentHealthy >= desiredHealthy && desiredHealthy > 0)
  );
}

function refusedBy({ metadata: { name, generation = 1 }, status }: ApiObject): Answer | undefined {
  const { observedGeneration = 0, disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = (status ?? {}) as BudgetStatus;
  const refused = (message: string, retryAfterSeconds?: number): Answer =>
    failure(429, "Cannot evict pod as it would violate the pod's disruption budget.", {
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      causes: [{ reason: 'DisruptionBudget', message }],
    });
  if (observedGeneration < generation) return refused(`The disruption budget ${name} is still being processed by the server.`, 10);
  if (disruptionsAllowed > 0) return undefined;
  if (disruptionsAllowed < 0)
    return failure(403, `poddisruptionbudgets.policy "${name}" is forbidden: pdb disruptions allowed is negative`);
  return refused(`The disruption budget ${name} needs ${String(desiredHealthy)} healthy pods and has ${String(currentHealthy)} currently`);
}

/** policy/v1: an empty selector selects all pods of the namespace, and none selects no pod. One that is invalid selects no pod. */
function selects({ spec }: ApiObject, { metadata }: ApiObject): boolean {
  const { selector } = (spec ?? {}) as Budget;
  if (selector === undefined || selector === null) return false;
  const labels = new Map(Object.entries((metadata.labels ?? {}) as Record<string, string>));
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels.get(key) === value) && matchExpressions.every((one) => holds(one, labels))
  );
}

function holds({ key, operator, values = [] }: Requirement, labels: ReadonlyMap<string, string>): boolean {
  const value = labels.get(key);
  const isIn = value !== undefined && values.includes(value);
  switch (operator) {
    case 'In':
      return isIn;
    case 'NotIn':
      return values.length > 0 && !isIn;
    case 'Exists':
      return values.length === 0 && value !== undefined;
    case 'DoesNotExist':
      return values.length === 0 && value === undefined;
    default:
      return false;
  }
}
