import type { PendingDeletion, PendingDeletions } from '../../../core/kubernetes/pending-deletion.js';

/**
 * Why a call for a pod has failed. `call`: it is refused. `permission`: so are others, perhaps, which take what other requests need.
 * `error` (5xx), `unanswered`: perhaps only for this pod, because of a webhook, say. `server`: any call would fail now.
 */
export type CallFailure = 'call' | 'permission' | 'error' | 'unanswered' | 'server';

/** Errors in a row after which the server counts as away, because further calls would only add to its load. */
const MAX_ERRORS = 2;

/**
 * The order of the pods in a round of calls: the oldest first, and last those that have failed before by themselves. As long as the
 * server answers no call, each round begins with another pod: no pod can hold the others.
 */
export class SendOrder {
  /** Uids of the pods that come last, in this order. */
  readonly #last = new Set<string>();
  /** Uids of pods that come last until the server answers a call. Then all are tried in the order of their age. */
  readonly #unproved = new Set<string>();
  /** Uids of the pods whose call has failed in this round. */
  readonly #failed = new Set<string>();
  #hasAnswered = false;
  #errors = 0;
  #isOver = false;

  begin(): void {
    this.#failed.clear();
    this.#hasAnswered = false;
    this.#errors = 0;
    this.#isOver = false;
  }

  /** undefined: the round is over. */
  next(pods: PendingDeletions): PendingDeletion | undefined {
    if (this.#isOver) return undefined;
    const left = pods.filter(({ uid }) => !this.#failed.has(uid));
    const late = [...this.#unproved, ...this.#last];
    const [first] = late.flatMap((late) => left.find(({ uid }) => uid === late) ?? []);
    return left.find(({ uid }) => !late.includes(uid)) ?? first;
  }

  /** Whether the server has answered in this round. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** The server has answered a call, perhaps with a refusal. */
  answered(): void {
    this.#hasAnswered = true;
    this.#errors = 0;
    this.#unproved.clear();
  }

  failed(uid: string, why: CallFailure): void {
    this.#failed.add(uid);
    if (why === 'call') return;
    if (why === 'error') this.#errors += 1;
    if (why !== 'server') {
      this.#last.delete(uid);
      this.#unproved.delete(uid);
      (why === 'permission' || this.#hasAnswered ? this.#last : this.#unproved).add(uid);
    }
    this.#isOver = why !== 'error' || this.#errors >= MAX_ERRORS;
  }

  /** @param isPending  others are forgotten */
  keepOnly(isPending: (uid: string) => boolean): void {
    for (const uids of [this.#last, this.#unproved]) for (const uid of uids) if (!isPending(uid)) uids.delete(uid);
  }
}
