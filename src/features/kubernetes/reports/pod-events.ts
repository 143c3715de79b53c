import type { Decision } from '../../../core/decide/eviction.js';
import type { Effect } from '../../../core/decide/effect.js';
import { answerText, type ApiAnswer } from '../../../core/kubernetes/eviction-answer.js';
import {
  coreEventCall,
  NO_EVENTS,
  nextEvent,
  type ClusterEvent,
  type EventSource,
  type EventState,
} from '../../../core/kubernetes/event-series.js';
import type { ApiCall } from '../../../core/kubernetes/pod-call.js';
import { podEvictionWay } from '../../../core/kubernetes/pod-eviction-way.js';
import { decisionMessage, outcomeMessage } from '../../../core/message/message.js';
import type { Workload } from '../../../core/workload/workload.js';
import type { Log } from '../../../log/log.js';
import type { StepListener } from '../../../monitor/ports/ports.js';
import { randomPauseMs, WITHIN_MS, type Ask } from './report-ports.js';
import { isSignalled, podOf, type RestoredEvictions, type SteppedEvictions } from './pod-evictions.js';

export interface PodEventsParts {
  readonly ask: Ask;
  readonly nodeName: string;
  readonly log: Pick<Log, 'warn'>;
  /** Left out: random. Tests wait less. */
  readonly pauseMs?: (failures: number) => number;
}

/** The maximum number of queued events: beyond it the oldest are dropped. */
const MAX_QUEUED = 64;

/** Publishes in the namespace of each evicted pod why it was evicted. Events that are not sent when evictd ends are lost. */
export class PodEvents implements StepListener {
  readonly #source: EventSource;
  #state: EventState = NO_EVENTS;
  readonly #queue: ApiCall[] = [];
  /** Evictions without a signal, and without an answer of the API server, by serial. */
  readonly #decided = new Map<number, Decision>();
  #isSending = false;
  /** The credential permits events in the core group only, as a kubelet's. */
  #isOfCore = false;
  #isRefused = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param restored  undefined: no evictions were in flight */
  constructor(
    private readonly parts: PodEventsParts,
    restored: RestoredEvictions | undefined,
  ) {
    this.#source = { instance: parts.nodeName, run: Date.now().toString(16) };
    for (const decision of restored ? unpublished(restored) : []) this.#decided.set(decision.serial, decision);
  }

  stepped({ effects, input }: SteppedEvictions): void {
    for (const [serial, reading] of input.victims) if (isSignalled(reading) && !reading.unanswered) this.#begun(serial);
    for (const effect of effects) {
      if (effect.kind === 'evict') this.#decided.set(effect.decision.serial, effect.decision);
      if (effect.kind === 'outcome') this.#decided.delete(effect.outcome.decision.serial);
      const event = eventOf(effect, this.parts.nodeName);
      if (event !== undefined) this.add(event);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#queue.length = 0;
    clearTimeout(this.#timer);
  }

  /** Sends it, or counts it in a series. */
  add(event: ClusterEvent): void {
    const now = new Date();
    const time = { ms: now.getTime(), text: now.toISOString().replace('Z', '000Z') };
    const { state, call } = nextEvent(this.#state, event, this.#source, time);
    this.#state = state;
    if (call === undefined) return;
    this.#queue.push(call);
    if (this.#queue.length > MAX_QUEUED) this.#queue.splice(this.#isSending ? 1 : 0, 1);
    if (!this.#isSending) void this.#send(1);
  }

  /**
   * Only 429, 5xx and no answer are tried again: any other refusal would be repeated. Without the permission in the group events.k8s.io
   * (403) the core group follows.
   */
  async #send(attempt: number): Promise<void> {
    const { ask, pauseMs = randomPauseMs } = this.parts;
    const [call] = this.#queue;
    this.#isSending = call !== undefined;
    if (call === undefined) return;
    const answer = await ask({ ...(this.#isOfCore ? coreEventCall(call) : call), withinMs: WITHIN_MS }).catch(() => undefined);
    if (answer !== undefined && answer.status !== 429 && answer.status < 500) {
      const isOtherGroup = answer.status === FORBIDDEN && !this.#isOfCore;
      if (answer.status === FORBIDDEN) this.#isOfCore = isOtherGroup;
      if (!isOtherGroup) this.#answered(answer);
      void this.#send(1);
      return;
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#send(attempt + 1), pauseMs(attempt)).unref();
  }

  /** The pod has got a signal, or the API server has accepted its eviction. A budget may have refused it before. */
  #begun(serial: number): void {
    const decision = this.#decided.get(serial);
    const pod = decision && podOf(decision);
    this.#decided.delete(serial);
    if (pod) this.add({ ...ofPod(pod), reason: 'Evicted', action: 'Evict', note: decisionMessage(decision) });
  }

  /** The call is over. */
  #answered(answer: ApiAnswer): void {
    this.#queue.shift();
    const isRefused = answer.status === FORBIDDEN;
    if (isRefused && !this.#isRefused && !this.#isClosed) {
      this.parts.log.warn(`the API server refuses events, and they are lost: it ${answerText(answer)}`, {
        code: 'EVICTD_KUBERNETES_EVENTS',
        hint: 'evictd doctor names permissions that are missing',
      });
    }
    this.#isRefused = isRefused;
  }
}

const FORBIDDEN = 403;

/**
 * Evictions that go on, and that had no signal or answer when the evictd before ended. An answer is not saved: where there was one, the
 * event is published again.
 */
function unpublished({ state: { evictions }, signals, abandoned }: RestoredEvictions): readonly Decision[] {
  return evictions.flatMap(({ decision }) => {
    const { serial, cause } = decision;
    const sent = signals.get(serial)?.sent;
    const isOpen = sent === undefined || (sent === 'signalNs' && podEvictionWay(cause) !== 'kill');
    return isOpen && !abandoned.has(serial) ? [decision] : [];
  });
}

/** undefined: none for this effect. */
function eventOf(effect: Effect, nodeName: string): ClusterEvent | undefined {
  if (effect.kind === 'attempt') {
    const note = `Attempting to reclaim ${effect.resource}`; // as the kubelet's
    return { regarding: { kind: 'Node', name: nodeName }, type: 'Warning', reason: 'EvictionThresholdMet', action: 'Reclaim', note };
  }
  if (effect.kind !== 'outcome' || effect.outcome.result !== 'failed') return undefined;
  const pod = podOf(effect.outcome.decision);
  return pod && { ...ofPod(pod), reason: 'EvictionFailed', action: 'Evict', note: outcomeMessage(effect.outcome) };
}

function ofPod({ uid, namespace, name }: NonNullable<Workload['kubernetes']>): Pick<ClusterEvent, 'regarding' | 'type'> {
  return { regarding: { kind: 'Pod', namespace, name, uid }, type: 'Warning' };
}
