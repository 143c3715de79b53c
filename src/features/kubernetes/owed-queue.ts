import { answerText, owedAnswer, type ApiAnswer } from '../../core/kubernetes/eviction-answer.js';
import {
  answered,
  concluded,
  owe,
  owedOf,
  retryMs,
  stillOwed,
  unsettled,
  type Owed,
  type OwedPod,
} from '../../core/kubernetes/owed-call.js';
import { lookCall, owedCall, podNow, type ApiCall } from '../../core/kubernetes/pod-call.js';
import type { Log } from '../../log/log.js';

/** Rejects where there is no answer. */
export type Ask = (call: ApiCall & { readonly withinMs: number }) => Promise<ApiAnswer>;

/** What outlives a restart. */
export interface SavedOwed {
  /** From the evictd before; undefined: nothing. */
  readonly before: unknown;
  /** Written at once. undefined: nothing is owed. */
  keep(value: Owed | undefined): void;
}

export interface OwedQueueParts {
  readonly ask: Ask;
  readonly section: SavedOwed;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Left out: random. Tests wait less. */
  readonly pauseMs?: (failures: number) => number;
}

/** Nodes that have lost the same server do not come back at the same time. */
export const randomPauseMs = (failures: number): number => retryMs(failures, Math.random());

const WITHIN_MS = 10_000;

/**
 * Makes the calls for the pods that evictd has ended, in order, until they succeed: the condition, then DELETE. Each change is saved
 * before the next call. A pod whose call may have been made already is read first, so that no call is repeated.
 */
export class OwedQueue {
  readonly #parts: OwedQueueParts;
  #owed: Owed;
  /** By uid: a call may have reached the server without an answer, or before the restart. */
  readonly #doubtful: Set<string>;
  /** By uid: no signal is known to have reached it. */
  readonly #held: Set<string>;
  #failures = 0;
  #isSending = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param inFlight  serials of evictions whose outcome is still to be recorded */
  constructor(parts: OwedQueueParts, inFlight: ReadonlySet<number>) {
    this.#parts = parts;
    this.#owed = owedOf(parts.section.before).flatMap((pod): OwedPod[] => {
      if (inFlight.has(pod.decision)) return [pod];
      return pod.next === 'settled' ? [] : [{ ...pod, isOver: true }];
    });
    this.#doubtful = new Set(this.#owed.map(({ uid }) => uid));
    this.#held = new Set(this.#owed.flatMap(({ uid, decision }) => (inFlight.has(decision) ? [uid] : [])));
  }

  /** How many evicted pods are not deleted at the API server yet. */
  get size(): number {
    return unsettled(this.#owed).length;
  }

  /** undefined: nothing was owed for this pod. */
  stateOf(uid: string): OwedPod['next'] | undefined {
    return this.#owed.find((pod) => pod.uid === uid)?.next;
  }

  /** Saves before it returns. `send` makes the calls, after `release`. */
  owe(pod: OwedPod, mayHaveBeenTold = false): void {
    const owed = owe(this.#owed, pod);
    const before = this.#owed.find(({ uid }) => uid === pod.uid);
    if (before && before.decision < pod.decision) {
      const what = `the kubelet has started ${pod.namespace}/${pod.name} again since decision ${String(before.decision)}`;
      this.#parts.log.info(`${what}: the API server does not know yet that it was evicted`, { decision: pod.decision });
    }
    if (owed === undefined) {
      const what = `${pod.namespace}/${pod.name} is evicted, and its kubelet may start it again`;
      this.#parts.log.warn(`${what}: ${String(this.#owed.length)} other pods wait for the API server`, {
        code: 'EVICTD_KUBERNETES_OWED',
        decision: pod.decision,
      });
      return;
    }
    if (mayHaveBeenTold) this.#doubtful.add(pod.uid);
    if (owed !== this.#owed && (before === undefined || before.next === 'settled')) this.#held.add(pod.uid);
    this.#put(owed);
  }

  /** A signal has reached the pod: what is owed for it may be sent. */
  release(decision: number): void {
    for (const pod of this.#owed) if (pod.decision === decision) this.#held.delete(pod.uid);
  }

  /** As in core/kubernetes/owed-call.ts. `ifReleased`: evictd has ended it if a signal has reached it. */
  concluded(decision: number, isEvicted: boolean | 'ifReleased'): void {
    if (isEvicted === true) this.release(decision);
    const isReleased = this.#owed.some((pod) => pod.decision === decision && !this.#held.has(pod.uid));
    this.#put(concluded(this.#owed, decision, isEvicted === 'ifReleased' ? isReleased : isEvicted));
  }

  /** Makes the owed calls, unless that is under way. */
  send(): void {
    if (!this.#isSending && !this.#isClosed && this.#toSend().length > 0) void this.#sendAll();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #toSend(): Owed {
    return unsettled(this.#owed).filter(({ uid }) => !this.#held.has(uid));
  }

  #put(owed: Owed): void {
    if (owed === this.#owed) return;
    this.#owed = owed;
    for (const uid of this.#held) if (!owed.some((pod) => pod.uid === uid)) this.#held.delete(uid);
    this.#parts.section.keep(owed.length === 0 ? undefined : owed);
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    clearTimeout(this.#timer);
    const failed = new Set<string>();
    let why: string | undefined;
    for (;;) {
      const pod = this.#toSend().find(({ uid }) => !failed.has(uid));
      if (pod === undefined) break;
      const trouble = await this.#sendOne(pod);
      if (this.#isClosed) return;
      if (trouble === undefined) continue;
      why = `${pod.namespace}/${pod.name}: ${trouble.why}`;
      if (trouble.isAway) break;
      failed.add(pod.uid);
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
      const what = `cannot tell the API server of ${String(this.size)} evicted pods yet`;
      log.warn(`${what}, and the kubelet may start them again: ${why}; evictd tries again`, {
        code: 'EVICTD_KUBERNETES_OWED',
        hint: 'evictd doctor names permissions that are missing',
      });
    }
    this.#timer = setTimeout(this.send.bind(this), pauseMs(this.#failures)).unref();
  }

  /** undefined: one call less is owed. */
  async #sendOne(pod: OwedPod): Promise<{ readonly isAway: boolean; readonly why: string } | undefined> {
    const isDoubtful = this.#doubtful.has(pod.uid);
    const call = isDoubtful ? lookCall(pod) : owedCall(pod, new Date().toISOString());
    let answer: ApiAnswer;
    try {
      answer = await this.#parts.ask({ ...call, withinMs: WITHIN_MS });
    } catch (error) {
      this.#doubtful.add(pod.uid);
      return { isAway: true, why: error instanceof Error ? error.message : String(error) };
    }
    if (this.#isClosed) return undefined;
    return isDoubtful ? this.#seen(pod, answer) : this.#told(pod, answer);
  }

  #told(pod: OwedPod, answer: ApiAnswer): { readonly isAway: boolean; readonly why: string } | undefined {
    if (pod.next === 'settled') return undefined;
    const result = owedAnswer(pod.next, answer);
    if (result === 'away' || result === 'failed') return { isAway: result === 'away', why: `it ${answerText(answer)}` };
    if (pod.next === 'delete' || result === 'gone') {
      const how = result === 'gone' ? 'is gone from the API server' : 'is deleted at the API server';
      this.#parts.log.info(`evicted pod ${pod.namespace}/${pod.name} ${how}`, { decision: pod.decision });
    }
    this.#put(answered(this.#owed, pod, result));
    return undefined;
  }

  /** If the answer has no pod, the call is made again. */
  #seen(pod: OwedPod, answer: ApiAnswer): { readonly isAway: boolean; readonly why: string } | undefined {
    const now = answer.status === 200 ? podNow(answer.body) : undefined;
    const result = owedAnswer('mark', answer);
    if (result === 'away') return { isAway: true, why: `it ${answerText(answer)}` };
    this.#doubtful.delete(pod.uid);
    if (result === 'gone') this.#put(answered(this.#owed, pod, 'gone'));
    else if (now !== undefined) this.#compare(pod, now);
    return undefined;
  }

  #compare(pod: OwedPod, now: NonNullable<ReturnType<typeof podNow>>): void {
    const { next } = stillOwed(pod, now);
    if (next === 'settled') this.#put(answered(this.#owed, pod, 'gone'));
    else if (next !== pod.next) this.#put(answered(this.#owed, pod, 'done'));
  }
}
