import { backOffMs } from '../../core/kubernetes/back-off.js';
import { answerText, deletionAnswer, type ApiAnswer } from '../../core/kubernetes/eviction-answer.js';
import {
  answered,
  concluded,
  addDeletion,
  pendingDeletionsOf,
  stillPending,
  unfinished,
  type PendingDeletions,
  type PendingDeletion,
} from '../../core/kubernetes/pending-deletion.js';
import { readPodCall, nextCall, podNow, type ApiCall } from '../../core/kubernetes/pod-call.js';
import type { Log } from '../../log/log.js';
import { messageOf } from '../../errors.js';

/** Rejects where there is no answer. */
export type Ask = (call: ApiCall & { readonly withinMs: number }) => Promise<ApiAnswer>;

/** What outlives a restart. */
export interface SavedSection {
  /** From the evictd before; undefined: nothing. */
  readonly before: unknown;
  /** Written at once. undefined: nothing. */
  keep(value: unknown): void;
}

export interface DeletionQueueParts {
  readonly ask: Ask;
  readonly section: SavedSection;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Left out: random. Tests wait less. */
  readonly pauseMs?: (failures: number) => number;
}

/** Why a call failed. `endsRound`: other calls would fail as well, or take what other requests need. */
interface CallFailure {
  readonly endsRound: boolean;
  readonly why: string;
}

export const randomPauseMs = (failures: number): number => backOffMs(failures, Math.random());

const WITHIN_MS = 10_000;
/** So many take up to an hour. Then no permission will come, and other pods need the room. */
const MAX_REFUSALS = 120;
/** The status where a permission is missing: mostly for all pods. */
const FORBIDDEN = 403;

/**
 * Makes the calls for the pods that evictd has ended, in order, until they succeed: the condition, then DELETE. Each change is saved
 * before the next call. A pod whose call may have been made already is read first, so that no call is repeated.
 */
export class DeletionQueue {
  readonly #parts: DeletionQueueParts;
  #pending: PendingDeletions;
  /** By uid: a call may have reached the server without an answer, or before the restart. */
  readonly #doubtful: Set<string>;
  /** By uid: no signal is known to have reached it. */
  readonly #held: Set<string>;
  /** By uid: how often the server has refused the DELETE. */
  readonly #refusals = new Map<string, number>();
  /** By uid, in this order: their calls are made after the pause that follows a failure. */
  #waiting = new Set<string>();
  #failures = 0;
  #isSending = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param inFlight  serials of evictions whose outcome is still to be recorded */
  constructor(parts: DeletionQueueParts, inFlight: ReadonlySet<number>) {
    this.#parts = parts;
    this.#pending = pendingDeletionsOf(parts.section.before).flatMap((pod): PendingDeletion[] => {
      if (inFlight.has(pod.decision)) return [pod];
      return pod.next === 'done' ? [] : [{ ...pod, isOver: true }];
    });
    this.#doubtful = new Set(this.#pending.map(({ uid }) => uid));
    this.#held = new Set(this.#pending.flatMap(({ uid, decision }) => (inFlight.has(decision) ? [uid] : [])));
  }

  /** How many evicted pods are not deleted at the API server yet. */
  get size(): number {
    return unfinished(this.#pending).length;
  }

  /** undefined: there was no call for this pod. */
  stateOf(uid: string): PendingDeletion['next'] | undefined {
    return this.#pending.find((pod) => pod.uid === uid)?.next;
  }

  /** Saves before it returns. `send` makes the calls, after `release`. */
  add(pod: PendingDeletion, mayHaveBeenSent = false): void {
    const pending = addDeletion(this.#pending, pod);
    const before = this.#pending.find(({ uid }) => uid === pod.uid);
    if (before && before.decision < pod.decision) {
      const what = `the kubelet has started ${pod.namespace}/${pod.name} again since decision ${String(before.decision)}`;
      this.#parts.log.info(`${what}: the API server does not know yet that it was evicted`, { decision: pod.decision });
    }
    if (pending === undefined) {
      const what = `${pod.namespace}/${pod.name} is evicted, and its kubelet may start it again`;
      this.#parts.log.warn(`${what}: too many pending deletions (${String(this.#pending.length)})`, {
        code: 'EVICTD_KUBERNETES_PENDING',
        decision: pod.decision,
      });
      return;
    }
    if (mayHaveBeenSent) this.#doubtful.add(pod.uid);
    if (pending === this.#pending) return;
    this.#waiting.delete(pod.uid);
    if (before === undefined || before.next === 'done') this.#held.add(pod.uid);
    this.#put(pending);
  }

  /** A signal has reached the pod: its calls may be made. */
  release(decision: number): void {
    for (const pod of this.#pending) if (pod.decision === decision) this.#held.delete(pod.uid);
  }

  /** As in core/kubernetes/pending-deletion.ts. `ifReleased`: evictd has ended it if a signal has reached it. */
  concluded(decision: number, isEvicted: boolean | 'ifReleased'): void {
    if (isEvicted === true) this.release(decision);
    const isReleased = this.#pending.some((pod) => pod.decision === decision && !this.#held.has(pod.uid));
    this.#put(concluded(this.#pending, decision, isEvicted === 'ifReleased' ? isReleased : isEvicted));
  }

  /** Makes the pending calls, unless that is under way. In the pause after a failure only if there is a pod that does not wait. */
  send(): void {
    if (this.#isSending || this.#isClosed) return;
    const toSend = this.#toSend();
    const isPaused = this.#timer !== undefined && toSend.every(({ uid }) => this.#waiting.has(uid));
    if (toSend.length > 0 && !isPaused) void this.#sendAll();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #toSend(): PendingDeletions {
    return unfinished(this.#pending).filter(({ uid }) => !this.#held.has(uid));
  }

  #put(pending: PendingDeletions): void {
    if (pending === this.#pending) return;
    this.#pending = pending;
    for (const uids of [this.#held, this.#waiting, this.#doubtful, this.#refusals]) {
      for (const uid of uids.keys()) if (!pending.some((pod) => pod.uid === uid)) uids.delete(uid);
    }
    this.#parts.section.keep(pending.length === 0 ? undefined : pending);
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    this.#endPause();
    const failed = new Set<string>();
    let why: string | undefined;
    for (;;) {
      const pod = this.#next(failed);
      if (pod === undefined) break;
      const failure = await this.#sendOne(pod);
      if (this.#isClosed) return;
      if (failure === undefined) continue;
      why = `${pod.namespace}/${pod.name}: ${failure.why}`;
      failed.add(pod.uid);
      if (failure.endsRound) break;
    }
    this.#isSending = false;
    this.#over(why, failed);
  }

  /** A pod whose call failed does not keep later ones waiting. */
  #next(failed: ReadonlySet<string>): PendingDeletion | undefined {
    const left = this.#toSend().filter(({ uid }) => !failed.has(uid));
    const first = [...this.#waiting].find((uid) => left.some((pod) => pod.uid === uid));
    return left.find(({ uid }) => !this.#waiting.has(uid)) ?? left.find(({ uid }) => uid === first);
  }

  #endPause(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * @param why  the last failure; undefined: there was none
   * @param failed  by uid: the last ones of the next round
   */
  #over(why: string | undefined, failed: ReadonlySet<string>): void {
    const { log, pauseMs = randomPauseMs } = this.#parts;
    if (why === undefined) {
      if (this.#failures > 0) log.info('every evicted pod is deleted at the API server now');
      this.#failures = 0;
      return;
    }
    this.#failures += 1;
    if (this.#failures === 1) {
      const what = `evicted pods that cannot be deleted at the API server yet: ${String(this.size)}`;
      log.warn(`${what}; the kubelet may start them again: ${why}; evictd tries again`, {
        code: 'EVICTD_KUBERNETES_PENDING',
        hint: 'evictd doctor names permissions that are missing',
      });
    }
    const waiting = new Set([...this.#waiting, ...this.#toSend().map(({ uid }) => uid)]);
    this.#waiting = new Set([...[...waiting].filter((uid) => !failed.has(uid)), ...failed]);
    this.#timer = setTimeout(() => {
      this.#endPause();
      this.send();
    }, pauseMs(this.#failures)).unref();
  }

  /** undefined: one call less is to be made. */
  async #sendOne(pod: PendingDeletion): Promise<CallFailure | undefined> {
    const isDoubtful = this.#doubtful.has(pod.uid);
    const call = isDoubtful ? readPodCall(pod) : nextCall(pod, new Date().toISOString());
    try {
      const answer = await this.#parts.ask({ ...call, withinMs: WITHIN_MS });
      if (this.#isClosed) return undefined;
      return isDoubtful ? this.#seen(pod, answer) : this.#handleAnswer(pod, answer);
    } catch (error) {
      this.#doubtful.add(pod.uid);
      return { endsRound: true, why: messageOf(error) };
    }
  }

  #handleAnswer(pod: PendingDeletion, answer: ApiAnswer): CallFailure | undefined {
    if (pod.next === 'done') return undefined;
    const result = deletionAnswer(pod.next, answer);
    if (result === 'away' || result === 'failed') {
      if (result === 'failed' && this.#isRefusedForGood(pod, answer)) return undefined;
      if (result === 'failed') this.#doubtful.add(pod.uid); // gone by the next round, perhaps
      return { endsRound: result === 'away' || answer.status === FORBIDDEN, why: `it ${answerText(answer)}` };
    }
    if (pod.next === 'delete' || result === 'gone') {
      const how = result === 'gone' ? 'is gone from the API server' : 'is deleted at the API server';
      this.#parts.log.info(`evicted pod ${pod.namespace}/${pod.name} ${how}`, { decision: pod.decision });
    }
    this.#put(answered(this.#pending, pod, result));
    return undefined;
  }

  #isRefusedForGood(pod: PendingDeletion, answer: ApiAnswer): boolean {
    const refusals = (this.#refusals.get(pod.uid) ?? 0) + 1;
    this.#refusals.set(pod.uid, refusals);
    if (refusals < MAX_REFUSALS) return false;
    const what = `the API server has refused ${String(refusals)} times to delete evicted pod ${pod.namespace}/${pod.name}`;
    this.#parts.log.warn(`${what}, and evictd gives up: it ${answerText(answer)}`, {
      code: 'EVICTD_KUBERNETES_PENDING',
      decision: pod.decision,
    });
    this.#put(this.#pending.filter(({ uid }) => uid !== pod.uid));
    return true;
  }

  /** If the answer has no pod, the call is made again. */
  #seen(pod: PendingDeletion, answer: ApiAnswer): CallFailure | undefined {
    const now = answer.status === 200 ? podNow(answer.body) : undefined;
    const result = deletionAnswer('condition', answer);
    if (result === 'away') return { endsRound: true, why: `it ${answerText(answer)}` };
    this.#doubtful.delete(pod.uid);
    if (result === 'gone') this.#put(answered(this.#pending, pod, 'gone'));
    else if (now !== undefined) this.#compare(pod, now);
    return undefined;
  }

  #compare(pod: PendingDeletion, now: NonNullable<ReturnType<typeof podNow>>): void {
    const { next } = stillPending(pod, now);
    if (next === 'done') this.#put(answered(this.#pending, pod, 'gone'));
    else if (next !== pod.next) this.#put(answered(this.#pending, pod, 'done'));
  }
}
