import { answerText, deletionAnswer, type ApiAnswer } from '../../../core/kubernetes/eviction-answer.js';
import {
  answered,
  concluded,
  addDeletion,
  continued,
  noted,
  restartText,
  stillPending,
  unfinished,
  type EndedPod,
  type PendingDeletions,
  type PendingDeletion,
} from '../../../core/kubernetes/pending-deletion.js';
import { readPodCall, nextCall, podNow } from '../../../core/kubernetes/pod-call.js';
import type { Log } from '../../../log/log.js';
import { messageOf } from '../../../errors.js';
import { EndedPods } from './ended-pods.js';
import { QUEUED_MS, randomPauseMs, WITHIN_MS, type Ask, type SavedSection } from './report-ports.js';
import { SendOrder, type CallFailure } from './send-order.js';
import { SentCalls } from './sent-calls.js';

export interface DeletionQueueParts {
  readonly ask: Ask;
  readonly section: SavedSection<PendingDeletions>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** The kubelet has started an evicted pod again. Once for each eviction. */
  readonly onRestart: (pod: EndedPod) => void;
  /** Left out: random. Tests wait less. */
  readonly pauseMs?: (failures: number) => number;
}

interface Failure {
  readonly of: CallFailure;
  readonly why: string;
}

/** The number of refusals, which take up to an hour, after which no permission will come, and other pods need the room. */
const MAX_REFUSALS = 120;
/** A webhook that fails for each patch must not hold the DELETE; a server that fails for a moment must not cost the condition. */
const MAX_CONDITION_ERRORS = 3;

/**
 * Makes the calls for the pods that evictd has ended, in order, until they succeed: the condition, then DELETE. Each change is saved
 * before the next call. A pod whose call may have been made already is read first, so that no call is repeated.
 */
export class DeletionQueue {
  readonly #parts: DeletionQueueParts;
  readonly ended: EndedPods;
  readonly sent = new SentCalls();
  #pending: PendingDeletions;
  /** Uids of pods with a call that may have reached the server without an answer, or before the restart. */
  readonly #doubtful: Set<string>;
  /** Uids of pods that no signal is known to have reached. */
  readonly #held: Set<string>;
  /** The number of refusals of the next call, or of failures of the condition, by uid. */
  readonly #refusals = new Map<string, number>();
  /** Uids of pods that have waited since the last failure. */
  #waiting = new Set<string>();
  readonly #order = new SendOrder();
  #failures = 0;
  #isSending = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param inFlight  serials of evictions whose outcome is still to be recorded */
  constructor(parts: DeletionQueueParts, inFlight: ReadonlySet<number>) {
    this.#parts = parts;
    this.#pending = continued(parts.section.before, inFlight);
    this.#doubtful = new Set(this.#pending.map(({ uid }) => uid));
    this.#held = new Set(this.#pending.flatMap(({ uid, decision }) => (inFlight.has(decision) ? [uid] : [])));
    this.ended = new EndedPods(this.#pending, this.#restarted.bind(this));
  }

  /** How many evicted pods are not deleted at the API server yet. */
  get size(): number {
    return unfinished(this.#pending).length;
  }

  /** undefined: there was no call for this pod. */
  stateOf(uid: string): PendingDeletion['next'] | undefined {
    return this.#pending.find((pod) => pod.uid === uid)?.next;
  }

  /** evictd has sent SIGTERM itself. */
  isSignalled(uid: string): boolean {
    return this.#pending.some((pod) => pod.uid === uid && pod.isSignalled);
  }

  /** Saves before it returns. `send` makes the calls, after `release`. */
  add(pod: PendingDeletion, mayHaveBeenSent = false): void {
    const pending = addDeletion(this.#pending, pod);
    const before = this.#pending.find(({ uid }) => uid === pod.uid);
    if (before && before.decision < pod.decision) this.ended.evictedAgain(pod.uid);
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
    if (before?.next === 'done') this.sent.forget(pod.uid);
    if (before === undefined || before.next === 'done') this.#held.add(pod.uid);
    this.#put(pending);
  }

  /** evictd has sent SIGTERM itself. Saves before it returns. */
  signalled(uid: string): void {
    if (!this.isSignalled(uid)) this.#put(noted(this.#pending, uid, { isSignalled: true }));
  }

  /** A signal has reached the pod: its calls may be made. */
  release(decision: number): void {
    for (const pod of this.#pending) {
      if (pod.decision !== decision) continue;
      this.#held.delete(pod.uid);
      if (pod.ended !== undefined) continue;
      const endedMs = Date.now();
      this.ended.add({ ...pod, endedMs });
      this.#put(noted(this.#pending, pod.uid, { ended: endedMs }));
    }
  }

  /** The end of an eviction. `ifReleased`: evictd has ended the pod if a signal has reached it. */
  concluded(decision: number, isEvicted: boolean | 'ifReleased'): void {
    if (isEvicted === true) this.release(decision);
    const isReleased = this.#pending.some((pod) => pod.decision === decision && !this.#held.has(pod.uid));
    this.#put(concluded(this.#pending, decision, isEvicted === 'ifReleased' ? isReleased : isEvicted));
  }

  /** Makes the pending calls, unless that is under way. In the pause after a failure only if there is a pod that is new. */
  send(): void {
    const toSend = this.#toSend();
    const isPaused = this.#timer !== undefined && toSend.every(({ uid }) => this.#waiting.has(uid));
    if (toSend.length > 0 && !isPaused && !this.#isSending && !this.#isClosed) void this.#sendAll();
  }

  /** The server is known to be there after a failure: nothing waits for the end of the pause. */
  serverIsBack(): void {
    this.#failures = Math.min(this.#failures, 1);
    this.#waiting.clear();
    this.send();
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
    const isPending = (uid: string): boolean => pending.some((pod) => pod.uid === uid);
    for (const uids of [this.#held, this.#waiting, this.#doubtful, this.#refusals])
      for (const uid of uids.keys()) if (!isPending(uid)) uids.delete(uid);
    for (const calls of [this.#order, this.sent]) calls.keepOnly(isPending);
    this.#parts.section.keep(pending.length === 0 ? undefined : pending);
  }

  #restarted(pod: EndedPod): void {
    const { log, onRestart } = this.#parts;
    log.info(restartText(pod), { decision: pod.decision });
    onRestart(pod);
    this.#put(noted(this.#pending, pod.uid, { ended: 'restarted' }));
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    this.#order.begin();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let why: string | undefined;
    for (;;) {
      const pod = this.#order.next(this.#toSend());
      if (pod === undefined) break;
      const failure = await this.#sendOne(pod);
      this.sent.over();
      if (this.#isClosed) return;
      if (failure === undefined) continue;
      why = `${pod.namespace}/${pod.name}: ${failure.why}`;
      this.#order.failed(pod.uid, failure.of);
    }
    this.#isSending = false;
    this.#over(why);
  }

  /** @param why  the last failure; undefined: there was none */
  #over(why: string | undefined): void {
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
    this.#waiting = new Set(this.#toSend().map(({ uid }) => uid));
    this.sent.failed(this.#waiting);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.send();
    }, pauseMs(this.#failures)).unref();
  }

  /** undefined: one call less is to be made. */
  async #sendOne(pod: PendingDeletion): Promise<Failure | undefined> {
    const isDoubtful = this.#doubtful.has(pod.uid);
    const call = isDoubtful ? readPodCall(pod) : nextCall(pod, new Date().toISOString());
    try {
      const beforeSend = this.sent.sending.bind(this.sent, pod.uid);
      const answer = await this.#parts.ask({ ...call, withinMs: WITHIN_MS, queuedMs: QUEUED_MS, beforeSend });
      if (this.#isClosed) return undefined;
      return isDoubtful ? this.#seen(pod, answer) : this.#handleAnswer(pod, answer);
    } catch (error) {
      this.#doubtful.add(pod.uid);
      return { of: 'unanswered', why: messageOf(error) };
    }
  }

  #handleAnswer(pod: PendingDeletion, answer: ApiAnswer): Failure | undefined {
    if (pod.next === 'done') return undefined;
    const result = deletionAnswer(pod.next, answer);
    if (result === 'away') return this.#unanswered(pod, answer);
    this.#order.answered();
    if (result === 'failed') {
      if (this.#refused(pod) >= MAX_REFUSALS) {
        this.#giveUp(pod, answer);
        return undefined;
      }
      this.#doubtful.add(pod.uid); // gone by the next round, perhaps
      return { of: answer.status === 403 ? 'permission' : 'call', why: `it ${answerText(answer)}` };
    }
    if (pod.next === 'delete' || result === 'gone') {
      const how = result === 'gone' ? 'is gone from the API server' : 'is deleted at the API server';
      this.#parts.log.info(`evicted pod ${pod.namespace}/${pod.name} ${how}`, { decision: pod.decision });
    }
    this.#refusals.delete(pod.uid);
    this.#put(answered(this.#pending, pod, result));
    return undefined;
  }

  /** A server that fails may have carried out the call: the pod is read first. */
  #unanswered(pod: PendingDeletion, answer: ApiAnswer): Failure | undefined {
    const why = `it ${answerText(answer)}`;
    if (answer.status < 500) return { of: 'server', why };
    const isOfCall = this.#order.hasAnswered && !this.#doubtful.has(pod.uid) && pod.next === 'condition';
    this.#doubtful.add(pod.uid);
    if (!isOfCall || this.#refused(pod) < MAX_CONDITION_ERRORS) return { of: 'error', why };
    this.#refusals.delete(pod.uid);
    this.#put(answered(this.#pending, pod, 'done'));
    return undefined;
  }

  #refused({ uid }: PendingDeletion): number {
    const refusals = (this.#refusals.get(uid) ?? 0) + 1;
    this.#refusals.set(uid, refusals);
    return refusals;
  }

  #giveUp(pod: PendingDeletion, answer: ApiAnswer): void {
    const what = `the API server has refused ${String(MAX_REFUSALS)} times to delete evicted pod ${pod.namespace}/${pod.name}`;
    this.#parts.log.warn(`${what}, and evictd gives up: it ${answerText(answer)}`, {
      code: 'EVICTD_KUBERNETES_PENDING',
      decision: pod.decision,
    });
    this.#put(this.#pending.filter(({ uid }) => uid !== pod.uid));
  }

  /** If the answer has no pod, the call is made again. */
  #seen(pod: PendingDeletion, answer: ApiAnswer): Failure | undefined {
    const now = answer.status === 200 ? podNow(answer.body) : undefined;
    const result = deletionAnswer('condition', answer);
    if (result === 'away') return this.#unanswered(pod, answer);
    this.#order.answered();
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
