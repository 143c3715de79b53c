import { evictionAnswer, EVICTION_REFUSALS, type ApiEviction, type EvictionRefusal } from '../../../core/kubernetes/eviction-answer.js';
import { HARD_GRACE_SECONDS } from '../../../core/kubernetes/pending-deletion.js';
import { evictCall, readPodCall, podNow } from '../../../core/kubernetes/pod-call.js';
import { disruptionTargetReason, needsAnswer, podEvictionWay } from '../../../core/kubernetes/pod-eviction-way.js';
import { withRetryAfter } from '../../../core/kubernetes/back-off.js';
import type { Decision, EvictionInFlight, Outcome, VictimReading } from '../../../core/decide/eviction.js';
import { decisionMessage } from '../../../core/message/message.js';
import type { Workload } from '../../../core/workload/workload.js';
import type { Metrics } from '../../../monitor/ports/metrics.js';
import type { PodEvictionAnswer, PodEvictionRequest, PodEvictions } from '../../../monitor/ports/node-pods.js';
import type { StepListener, StepReport } from '../../../monitor/ports/ports.js';
import type { SentSignals } from '../../../monitor/ports/sent-signals.js';
import { BudgetCounts } from './budget-counts.js';
import type { DeletionQueue } from './deletion-queue.js';
import { QUEUED_MS, randomPauseMs, WITHIN_MS, type Ask } from './report-ports.js';
import { NS_PER_SECOND } from '../../../core/quantity/duration.js';

export interface ApiPodEvictionsParts {
  readonly ask: Ask;
  readonly queue: DeletionQueue;
  readonly budgets: 'respect' | 'ignore';
  /** The API server is known not to answer: it is not waited for. */
  readonly isAway: () => boolean;
  /** Resolves when the node has its taint and is cordoned, as far as it should, or after a second. */
  readonly published: () => Promise<void>;
  readonly metrics: Pick<Metrics, 'budgetViolated' | 'podEvictionRefused'>;
  /** The wait before a request is made again. Left out: random. Tests wait less. */
  readonly pauseMs?: (failures: number) => number;
}

/** The evictions in flight of the previous evictd. */
export interface RestoredEvictions {
  readonly state: { readonly evictions: readonly EvictionInFlight[] };
  readonly signals: ReadonlyMap<number, SentSignals>;
  /** The reason why an eviction is not continued, by serial. */
  readonly abandoned: ReadonlyMap<number, string>;
}

/** What of a step the API server is asked and told about. */
export type SteppedEvictions = Pick<StepReport, 'effects'> & { readonly input: Pick<StepReport['input'], 'victims'> };

/** Requests for evictions at the API server, and the deletions of pods that evictd ends itself. */
export class ApiPodEvictions implements PodEvictions, StepListener {
  readonly #parts: ApiPodEvictionsParts;
  readonly #counts: BudgetCounts;
  /** Evictions in flight, by uid of the pod. */
  readonly #decisions = new Map<string, Decision>();
  /** Evictions whose violated budgets are counted when a signal has reached the pod, by serial. */
  readonly #uncounted = new Map<number, Workload['kubernetes']>();
  /** Serials of evictions that the budgets permit, or whose budgets are counted. */
  readonly #settled = new Set<number>();
  /** What the Eviction API is asked for, by uid of the pod, until evictd ends the pod itself or the eviction is over. */
  readonly #asked = new Map<string, PodEvictionRequest>();
  /** Pods that a previous evictd killed and did not follow, and why the eviction is over, by serial. */
  readonly #killedBefore = new Map<number, string>();

  /** For evictions in flight, adds the deletions that a killed evictd had not saved. */
  constructor(parts: ApiPodEvictionsParts, restored: RestoredEvictions) {
    this.#parts = parts;
    this.#counts = new BudgetCounts(parts.ask, parts.metrics);
    for (const eviction of restored.state.evictions) {
      const { serial } = eviction.decision;
      const isKilled = restored.signals.get(serial)?.sent === 'killNs';
      const why = restored.abandoned.get(serial);
      if (isKilled || why === undefined) this.#resume(eviction);
      if (isKilled && why !== undefined) this.#killedBefore.set(serial, why);
    }
  }

  request(asked: PodEvictionRequest): () => PodEvictionAnswer {
    const { queue, budgets } = this.#parts;
    const { cause, isResumed } = asked;
    const { kubernetes: pod } = asked.workload;
    if (pod === undefined) return () => 'unanswered';
    if (isResumed && queue.isSignalled(pod.uid)) return () => 'accepted'; // SIGTERM is not sent again
    const way = podEvictionWay(cause, budgets);
    const waits = needsAnswer(cause, budgets);
    if (this.#parts.isAway()) return () => (waits ? NO_ANSWER : 'unanswered');
    if (way === 'delete' || (isResumed && queue.stateOf(pod.uid) !== undefined)) {
      const askedNs = process.hrtime.bigint();
      return () => this.#deletionAnswer(pod.uid, askedNs);
    }
    let answer: PodEvictionAnswer = 'unsent';
    const set = (given: PodEvictionAnswer): void => {
      answer = given;
    };
    this.#asked.set(pod.uid, asked);
    void this.#evict(pod, asked, set).then(set);
    if (!waits) return () => answer;
    return () => (answer === 'unanswered' ? NO_ANSWER : typeof answer === 'object' && 'sentNs' in answer ? 'unsent' : answer);
  }

  endItself({ kubernetes: pod }: Workload, send: () => boolean): void {
    const decision = pod && this.#decisions.get(pod.uid);
    if (pod === undefined || decision === undefined) {
      send();
      return;
    }
    const { queue } = this.#parts;
    this.#asked.delete(pod.uid);
    this.#addDeletion(decision, secondsOf(decision.graceNs), this.#evictionWay(decision) === 'evict');
    if (!send()) return;
    queue.signalled(pod.uid);
    this.#owesCount(decision);
    this.#signalled(decision.serial);
    queue.send();
  }

  /** What a step decides is sent by a later one, whose reading shows that the signal was sent: hooks may delay it. */
  stepped({ effects, input }: SteppedEvictions): void {
    for (const [serial, reading] of input.victims) if (isSignalled(reading)) this.#signalled(serial);
    for (const effect of effects) {
      if (effect.kind === 'evict') {
        this.#decided(effect.decision);
      } else if (effect.kind === 'escalate') {
        this.#asked.delete(podOf(effect.decision)?.uid ?? '');
        this.#addDeletion(effect.decision, HARD_GRACE_SECONDS, true);
        this.#owesCount(effect.decision);
      } else if (effect.kind === 'outcome') this.#over(effect.outcome);
    }
    this.#parts.queue.send();
  }

  /** The API server answers after a failure. What is owed is counted first: a deletion changes the budgets. */
  serverIsBack(): void {
    const { queue } = this.#parts;
    const isPending = (uid: string): boolean => (queue.stateOf(uid) ?? 'done') !== 'done';
    void this.#counts.serverIsBack(isPending).then(() => {
      queue.serverIsBack();
    });
  }

  close(): void {
    this.#counts.close();
    this.#asked.clear();
    this.#parts.queue.close();
  }

  /** @param askedNs  counts where the queue has no room for the pod */
  #deletionAnswer(uid: string, askedNs: bigint): PodEvictionAnswer {
    const { queue } = this.#parts;
    const state = queue.stateOf(uid);
    if (state === 'done') return 'accepted';
    const sentNs = state === undefined ? askedNs : queue.sent.sinceNs(uid);
    return sentNs === undefined ? 'unsent' : { sentNs };
  }

  #decided(decision: Decision): void {
    const pod = podOf(decision);
    if (pod === undefined) return;
    this.#decisions.set(pod.uid, decision);
    const way = this.#evictionWay(decision);
    if (way === 'evict') return;
    this.#addDeletion(decision, way === 'kill' ? HARD_GRACE_SECONDS : secondsOf(decision.graceNs));
    this.#owesCount(decision);
  }

  /** Node pressure violates budgets where they were not asked, or have not permitted it: as each is evicted once, it counts once. */
  #owesCount(decision: Decision): void {
    const { serial, cause } = decision;
    if (cause.kind !== 'disruption' && !this.#settled.has(serial)) this.#uncounted.set(serial, podOf(decision));
  }

  #evictionWay({ cause }: Decision): ReturnType<typeof podEvictionWay> {
    return podEvictionWay(cause, this.#parts.budgets);
  }

  #signalled(serial: number): void {
    this.#parts.queue.release(serial);
    const pod = this.#uncounted.get(serial);
    if (pod === undefined) return;
    this.#uncounted.delete(serial);
    this.#settled.add(serial);
    void this.#counts.count(pod.namespace, [pod]);
  }

  #resume({ decision, phase }: EvictionInFlight): void {
    const { queue } = this.#parts;
    const { uid = '' } = podOf(decision) ?? {};
    const isEvicted = this.#evictionWay(decision) === 'evict';
    if (queue.isSignalled(uid) || !isEvicted) this.#settled.add(decision.serial);
    this.#decided(decision);
    if (phase === 'terminating' && isEvicted && queue.stateOf(uid) !== undefined) this.#owesCount(decision); // it was to be signalled
    if (phase === 'dying') this.#addDeletion(decision, HARD_GRACE_SECONDS, true);
  }

  #addDeletion(decision: Decision, graceSeconds: number, mayHaveBeenSent = false): void {
    const pod = podOf(decision);
    if (pod === undefined) return;
    const { uid, namespace, name } = pod;
    const reason = disruptionTargetReason(decision.cause);
    const text = { reason, message: decisionMessage(decision) };
    this.#parts.queue.add({ uid, namespace, name, decision: decision.serial, ...text, graceSeconds, next: 'condition' }, mayHaveBeenSent);
  }

  #over(outcome: Outcome): void {
    const { decision, result, processesLeft, abandoned = '' } = outcome;
    const pod = podOf(decision);
    for (const serials of [this.#uncounted, this.#settled]) serials.delete(decision.serial);
    if (pod === undefined) return;
    if (this.#asked.get(pod.uid)?.cause === decision.cause) this.#asked.delete(pod.uid); // the same step may have evicted it again
    if (this.#decisions.get(pod.uid)?.serial === decision.serial) this.#decisions.delete(pod.uid);
    const hasEnded = processesLeft === 0 || this.#killedBefore.get(decision.serial) === abandoned;
    const isEvicted = result === 'abandoned' ? hasEnded : result !== 'vanished';
    this.#parts.queue.concluded(decision.serial, result === 'failed' ? 'ifReleased' : isEvicted);
  }

  /** Begins when the step is over: the taint comes first. A server that is busy is asked again, as long as the answer is waited for. */
  async #evict(
    pod: NonNullable<Workload['kubernetes']>,
    asked: PodEvictionRequest,
    set: (answer: PodEvictionAnswer) => void,
  ): Promise<PodEvictionAnswer> {
    const { ask, published, budgets, pauseMs = randomPauseMs } = this.#parts;
    let sentNs: bigint | undefined;
    const beforeSend = (): void => {
      if (this.#asked.get(pod.uid) !== asked) throw new Error('the eviction does not wait for it any more');
      sentNs ??= process.hrtime.bigint();
      set({ sentNs });
    };
    const limits = { withinMs: WITHIN_MS, queuedMs: QUEUED_MS, beforeSend };
    try {
      await Promise.resolve(); // the rest of the step sets the taint
      await published();
      if (asked.isResumed) {
        const now = podNow((await ask({ ...readPodCall(pod), ...limits })).body);
        sentNs = undefined;
        set('unsent');
        if (now?.uid === pod.uid && now.graceSeconds !== undefined) return this.#accepted(pod);
      }
      for (let failures = 1; ; failures += 1) {
        const answer = evictionAnswer(await ask({ ...evictCall(pod, secondsOf(asked.graceNs)), ...limits }));
        if (answer.kind !== 'busy') return this.#answered(pod, answer);
        const waitMs = withRetryAfter(pauseMs(failures), answer.retryAfterSeconds);
        if (needsAnswer(asked.cause, budgets) && sinceMs(sentNs) + waitMs > WITHIN_MS) return unanswered(answer.why);
        await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
        if (this.#asked.get(pod.uid) !== asked) return 'unanswered';
      }
    } catch {
      return 'unanswered'; // the client has counted it
    }
  }

  #answered(pod: NonNullable<Workload['kubernetes']>, answer: Exclude<ApiEviction, { readonly kind: 'busy' }>): PodEvictionAnswer {
    if (isRefusal(answer)) this.#parts.metrics.podEvictionRefused(answer.kind);
    const given = answerOf(answer);
    return given === 'accepted' ? this.#accepted(pod) : given;
  }

  #accepted({ uid }: NonNullable<Workload['kubernetes']>): 'accepted' {
    const decision = this.#decisions.get(uid);
    if (decision) this.#settled.add(decision.serial);
    return 'accepted';
  }
}

/** A drain, or the eviction of an operator: it is tried again. */
const NO_ANSWER = unanswered('does not answer');

function unanswered(why: string): PodEvictionAnswer {
  return { refused: `the API server ${why}`, isUnanswered: true };
}

function answerOf(answer: Exclude<ApiEviction, { readonly kind: 'busy' }>): PodEvictionAnswer {
  switch (answer.kind) {
    case 'accepted':
    case 'gone':
      return 'accepted';
    case 'unanswered':
      return 'unanswered';
    case 'budget':
      return { refused: `its disruption budget does not permit it now: the API server ${answer.why}` };
    case 'several-budgets':
    case 'refused':
      return { refused: `the API server ${answer.why}` };
  }
}

function isRefusal(answer: ApiEviction): answer is ApiEviction & { readonly kind: EvictionRefusal } {
  return EVICTION_REFUSALS.includes(answer.kind as EvictionRefusal);
}

/** The pod that is evicted. undefined: no pod of the API server, only one of its processes, or a dry run. */
export function podOf({ victim, dryRun }: Decision): Workload['kubernetes'] {
  return dryRun || victim.process !== undefined ? undefined : victim.workload.kubernetes;
}

/** Some of its processes have got a signal. One that was refused, or that evictd lacks a resource for, has an error. */
export function isSignalled({ signalledAtNs, error, passing }: VictimReading): boolean {
  return signalledAtNs !== undefined && (error === undefined || passing === 'in part');
}

function sinceMs(sentNs = process.hrtime.bigint()): number {
  return Number(process.hrtime.bigint() - sentNs) / 1e6;
}

function secondsOf(graceNs: bigint): number {
  return Number((graceNs + NS_PER_SECOND - 1n) / NS_PER_SECOND);
}
