export interface ApiAnswer {
  readonly status: number;
  /** Left out: the answer has no Retry-After. */
  readonly retryAfterSeconds?: number | undefined;
  /** The parsed body; undefined: none. */
  readonly body: unknown;
}

/** The answer of the Eviction API, or to a DELETE in its place. */
export type ApiEviction =
  /** The kubelet ends the pod. */
  | { readonly kind: 'accepted' }
  /** The pod is gone, or another one has its name. */
  | { readonly kind: 'gone' }
  /** A disruption budget does not permit it now. */
  | { readonly kind: 'budget'; readonly why: string }
  /** The pod has several disruption budgets, an error of the cluster: the Eviction API evicts it never. */
  | { readonly kind: 'several-budgets'; readonly why: string }
  /** It cannot succeed now: a permission is missing, say, or an admission webhook denies it. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The API server has not judged it, and asks for it again: it is overloaded, or another program has changed an object meanwhile. */
  | { readonly kind: 'busy'; readonly why: string; readonly retryAfterSeconds: number | undefined }
  /** The API server fails, or does not know the credential any more. */
  | { readonly kind: 'unanswered'; readonly why: string };

/**
 * What an answer means for an eviction (pkg/registry/core/pod/storage/eviction.go, v1.36.2). The budget is checked before the
 * uid, so a refusal may be about another pod of this name. Several budgets: 500, as for a failure of the server. 429 without a budget
 * is of API Priority and Fairness, 409 without a wrong uid of the status of a budget.
 */
export function evictionAnswer(answer: ApiAnswer): ApiEviction {
  const { status, retryAfterSeconds } = answer;
  const why = answerText(answer);
  if (isDenied(answer)) return { kind: 'refused', why };
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  if (status === 404 || isOfOtherPod(answer)) return { kind: 'gone' };
  if (status === 429 && isOfBudget(answer)) return { kind: 'budget', why };
  if (status === 500 && why.includes(SEVERAL_BUDGETS)) return { kind: 'several-budgets', why };
  if (status === 429 || status === 409) return { kind: 'busy', why, retryAfterSeconds };
  return { kind: status < 500 && status !== 401 ? 'refused' : 'unanswered', why };
}

/** Why the Eviction API has refused an eviction. */
export const EVICTION_REFUSALS = ['budget', 'several-budgets', 'refused'] as const;
export type EvictionRefusal = (typeof EVICTION_REFUSALS)[number];

/** The text in the message of the only 500 whose cause is the pod. */
const SEVERAL_BUDGETS = 'more than one PodDisruptionBudget';

/** What an answer means for a call for an evicted pod. */
export type DeletionAnswer =
  /** Done, or there is nothing left to do. */
  | 'done'
  /** The pod is gone, or another one has its name: nothing more is to be done. */
  | 'gone'
  /** The server refuses this call; it is made again later. */
  | 'failed'
  /** The server, or a proxy before it, cannot answer now. No refusal of the call: an hour of these answers forgets no pod. */
  | 'away';

/** A wrong uid: 409 for a DELETE, 422 for a patch of the status. A patch that is refused must not keep the DELETE waiting. */
export function deletionAnswer(call: 'condition' | 'delete', answer: ApiAnswer): DeletionAnswer {
  const { status } = answer;
  if (status >= 200 && status < 300) return 'done';
  if (status === 404 || (call === 'delete' && isOfOtherPod(answer))) return 'gone';
  const isRefusal = isDenied(answer) || (status >= 400 && status < 500 && !NO_REFUSALS.has(status));
  if (!isRefusal) return 'away';
  return call === 'condition' && status !== 409 ? 'done' : 'failed';
}

/** An expired credential, a request that came too slowly, an overloaded server. */
const NO_REFUSALS: ReadonlySet<number> = new Set([401, 408, 429]);

/** 'answers 429: Cannot evict pod as it would violate the pod's disruption budget.' */
export function answerText({ status, body }: Pick<ApiAnswer, 'status' | 'body'>): string {
  const said = messageOf(body);
  return `answers ${String(status)}${said === undefined ? '' : `: ${said}`}`;
}

function messageOf(body: unknown): string | undefined {
  const { message } = recordOf(body);
  return typeof message === 'string' && message !== '' ? message : undefined;
}

function isOfBudget({ body }: Pick<ApiAnswer, 'body'>): boolean {
  const { causes } = recordOf(recordOf(body).details);
  return Array.isArray(causes) && causes.some((cause) => recordOf(cause).reason === 'DisruptionBudget');
}

/** An admission webhook or policy denies the request, with any code (apiserver: plugin/webhook/errors/statuserror.go, ToStatusErr). */
const DENIED = /admission webhook ".*" denied the request|ValidatingAdmissionPolicy '.*' denied request/;

function isDenied({ body }: ApiAnswer): boolean {
  return recordOf(body).kind === 'Status' && DENIED.test(messageOf(body) ?? '');
}

/** Of the precondition that the uid is (apiserver: registry/rest/delete.go, storage/interfaces.go). Other conflicts pass. */
const OTHER_UID = /\bUID in (the )?precondition\b/;

function isOfOtherPod({ status, body }: ApiAnswer): boolean {
  return status === 409 && OTHER_UID.test(messageOf(body) ?? '');
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
