// API-initiated eviction (pkg/registry/core/pod/storage/eviction.go, v1.36.2): may this pod be deleted within its disruption budgets?

/** Tries of a write that conflicts with another. */
const TRIES = 20;
const MAX_DISRUPTED_PODS = 2000n;
const RETRY_AFTER_SECONDS = 10;

interface DisruptionAllowedCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface PodBudget {
  readonly namespace: string;
  readonly name: string;
  readonly matches: boolean;
  readonly alwaysAllowsUnhealthy: boolean;
  readonly generation: bigint;
  readonly observedGeneration: bigint;
  readonly currentHealthy: bigint;
  readonly desiredHealthy: bigint;
  readonly disruptionsAllowed: bigint;
  /** Evictions that the controller has not seen yet, without this one. */
  readonly disruptedPods: bigint;
  readonly condition: DisruptionAllowedCondition | undefined;
}

export interface EvictionRequest {
  readonly pod: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly phase: string;
    readonly ready: boolean;
    readonly terminating: boolean;
  };
  /** The name in the address of the request. */
  readonly urlName: string;
  readonly queryDryRun: readonly string[];
  readonly optionsDryRun: readonly string[];
  /** Preconditions; undefined: none. */
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly budgets: readonly PodBudget[];
  /** The number of first writes of the budget's status, and of deletions of the pod, that conflict with another program. */
  readonly budgetConflicts: number;
  readonly deleteConflicts: number;
}

export interface EvictionFailure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes?: readonly { readonly reason: string; readonly message: string }[];
  readonly retryAfterSeconds?: number;
}

export interface EvictionAnswer {
  /** undefined: 201, success. */
  readonly failure: EvictionFailure | undefined;
  readonly deleteCalls: number;
  readonly podDeleted: boolean;
  /** The condition DisruptionTarget was written. */
  readonly marked: boolean;
  readonly dryRun: boolean;
  /** The deletion was bound to the resource version that the decision was made for. */
  readonly bound: boolean;
  /** The budgets after the eviction. */
  readonly budgets: readonly PodBudget[];
}

interface Deletion {
  readonly failure: EvictionFailure | undefined;
  readonly calls: number;
  readonly marked: boolean;
}

export function evictPod(request: EvictionRequest): EvictionAnswer {
  const { pod, budgets, resourceVersion } = request;
  const nothing = { deleteCalls: 0, podDeleted: false, marked: false, dryRun: false, bound: false, budgets };
  const malformed = malformedRequest(request);
  if (malformed !== undefined) return { ...nothing, failure: malformed };
  const dryRun = request.queryDryRun.length > 0 || request.optionsDryRun.length > 0;
  const answer = (deletion: Deletion, bound: boolean, after = budgets): EvictionAnswer => ({
    failure: deletion.failure,
    deleteCalls: deletion.calls,
    podDeleted: deletion.failure === undefined && !dryRun,
    marked: deletion.marked,
    dryRun: dryRun && deletion.calls > 0,
    bound: bound && deletion.failure === undefined,
    budgets: after,
  });

  if (ignoresBudgets(pod)) {
    const bound = resourceVersion !== undefined || pod.phase === 'Pending';
    return answer(deletePod(request, dryRun, resourceVersion === undefined ? TRIES : 1), bound && !isEnded(pod, resourceVersion));
  }
  const [budget, ...more] = budgets.filter(({ namespace, matches }) => namespace === pod.namespace && matches);
  if (more.length > 0) return { ...nothing, failure: SEVERAL_BUDGETS };
  if (budget === undefined) return answer(deletePod(request, dryRun, 1), resourceVersion !== undefined);
  if (isFree(pod.ready, budget)) {
    const deletion = deletePod({ ...request, resourceVersion: undefined }, dryRun, 1); // bound to the one that was read
    const isConflict = deletion.failure?.code === 409 && resourceVersion === undefined;
    return answer(isConflict ? { ...deletion, failure: beingProcessed(budget.name) } : deletion, true);
  }
  const refusal =
    refusalOf(budget) ?? (!dryRun && request.budgetConflicts >= TRIES ? conflict('poddisruptionbudgets', 'x', 'changed') : undefined);
  if (refusal !== undefined) return { ...nothing, failure: refusal };
  const after = dryRun ? budgets : budgets.map((other) => (other === budget ? decremented(budget) : other));
  return answer(deletePod(request, dryRun, 1), resourceVersion !== undefined, after);
}

function malformedRequest({ pod, urlName, queryDryRun, optionsDryRun }: EvictionRequest): EvictionFailure | undefined {
  if (urlName !== pod.name) return { code: 400, reason: 'BadRequest', message: 'name in URL does not match name in Eviction object' };
  if (queryDryRun.length === 0 || optionsDryRun.length === 0 || queryDryRun.join(' ') === optionsDryRun.join(' ')) return undefined;
  const lists = `[${queryDryRun.join(' ')}] and [${optionsDryRun.join(' ')}]`;
  return { code: 500, reason: '', message: `Non-matching dry-run options in request and content: ${lists}` };
}

/** A pod that does not run yet, has ended or is ending disrupts nothing. */
function ignoresBudgets({ phase, terminating }: EvictionRequest['pod']): boolean {
  return terminating || ['Succeeded', 'Failed', 'Pending'].includes(phase);
}

/** A pod that has ended, or is ending, cannot become ready: its deletion is bound only if the request says so. */
function isEnded({ phase, terminating }: EvictionRequest['pod'], resourceVersion: string | undefined): boolean {
  return resourceVersion === undefined && (terminating || phase !== 'Pending');
}

/** A pod that is not ready does not count as healthy: it uses no budget. */
function isFree(ready: boolean, { alwaysAllowsUnhealthy, currentHealthy, desiredHealthy }: PodBudget): boolean {
  return !ready && (alwaysAllowsUnhealthy || (currentHealthy >= desiredHealthy && desiredHealthy > 0n));
}

const VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget.";

const SEVERAL_BUDGETS: EvictionFailure = {
  code: 500,
  reason: '',
  message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
};

function refusalOf(budget: PodBudget): EvictionFailure | undefined {
  const { name, generation, observedGeneration, disruptionsAllowed, disruptedPods } = budget;
  if (observedGeneration < generation) return beingProcessed(name);
  if (disruptionsAllowed < 0n) return forbidden(name, 'pdb disruptions allowed is negative');
  if (disruptedPods > MAX_DISRUPTED_PODS)
    return forbidden(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (disruptionsAllowed > 0n) return undefined;
  return tooManyRequests(`The disruption budget ${name} ${exhausted(budget)}`);
}

function exhausted({ condition, currentHealthy, desiredHealthy }: PodBudget): string {
  const said = condition?.status === 'False' && condition.message !== '' ? condition : undefined;
  if (said?.reason === 'SyncFailed') return `does not allow evicting pods currently because it failed sync: ${said.message}`;
  if (currentHealthy <= desiredHealthy) return `needs ${String(desiredHealthy)} healthy pods and has ${String(currentHealthy)} currently`;
  return `does not allow evicting pods currently${said === undefined ? '' : ` (${said.reason}): ${said.message}`}`;
}

function beingProcessed(name: string): EvictionFailure {
  const failure = tooManyRequests(`The disruption budget ${name} is still being processed by the server.`);
  return { ...failure, retryAfterSeconds: RETRY_AFTER_SECONDS };
}

function tooManyRequests(message: string): EvictionFailure {
  return { code: 429, reason: 'TooManyRequests', message: VIOLATES, causes: [{ reason: 'DisruptionBudget', message }] };
}

function forbidden(name: string, why: string): EvictionFailure {
  return { code: 403, reason: 'Forbidden', message: `poddisruptionbudget.policy "${name}" is forbidden: ${why}` };
}

function conflict(resource: string, name: string, why: string): EvictionFailure {
  return { code: 409, reason: 'Conflict', message: `Operation cannot be fulfilled on ${resource} "${name}": ${why}` };
}

function decremented(budget: PodBudget): PodBudget {
  const disruptionsAllowed = budget.disruptionsAllowed - 1n;
  const disruptedPods = budget.disruptedPods + 1n;
  const condition = disruptionsAllowed === 0n ? { status: 'False', reason: 'InsufficientPods', message: '' } : budget.condition;
  return { ...budget, disruptionsAllowed, disruptedPods, condition };
}

/** Marks the pod, which checks the preconditions, then deletes it. A dry run does not mark it: the deletion checks them. */
function deletePod(request: EvictionRequest, dryRun: boolean, tries: number): Deletion {
  const { pod, deleteConflicts } = request;
  const differs = preconditionConflict(request);
  if (differs !== undefined) return { failure: conflict('Pod', pod.name, differs), calls: dryRun ? tries : 0, marked: false };
  const marked = !dryRun;
  const calls = Math.min(deleteConflicts + 1, tries);
  return { failure: deleteConflicts < tries ? undefined : conflict('pods', pod.name, 'changed'), calls, marked };
}

function preconditionConflict({ pod, uid, resourceVersion: version }: EvictionRequest): string | undefined {
  const text = (name: string, asked: string, known: string): string =>
    `the ${name} in the precondition (${asked}) does not match the ${name} in record (${known}). The object might have been`;
  if (uid !== undefined && uid !== pod.uid) return `${text('UID', uid, pod.uid)} deleted and then recreated`;
  if (version === undefined || version === pod.resourceVersion) return undefined;
  return `${text('ResourceVersion', version, pod.resourceVersion)} modified`;
}
