import type { Effect } from '../core/effect.js';
import { evictionSignal } from '../core/eviction-signal.js';
import type { Decision, Outcome } from '../core/eviction.js';
import { meansOf } from '../core/means.js';
import { alertMessage, decisionMessage, outcomeMessage, thresholdMessage } from '../core/message.js';
import type { Observations } from '../core/observation.js';
import { hasFailed } from '../core/reclaim.js';
import type { Hold } from '../core/restart-storm.js';
import type { State } from '../core/state.js';
import { notStartedText, releaseText } from '../core/unit-message.js';
import type { NotStarted } from '../core/unit-start.js';
import { operandsOf, thresholdKind, type Threshold } from '../core/threshold.js';
import type { Workload } from '../core/workload.js';
import type { Log } from '../log.js';
import type { NotifierState, SourceProblem } from './ports.js';
import type { Metrics } from './publisher.js';
import { reclaimMessage } from './reclaim-record.js';
import type { JournalRecord } from './record.js';
import { removalText } from './removal-record.js';

/** Key of the trouble that a step could not be made. */
const STEP = 'step ';
const STEPS_AGAIN = 'is over';

type EffectOf<K extends Effect['kind']> = Extract<Effect, { kind: K }>;

/** Says what happened, in the log and in the metrics: a state that lasts is said when it begins and when it ends. */
export class Reporter {
  readonly #log: Log;
  readonly #metrics: Metrics;
  /** Lasting trouble that was said, by key. */
  #said = new Map<string, string>();
  #stepFailed = false;
  #listenerFailed = false;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  decided(decision: Decision): void {
    this.#log.warn(decisionMessage(decision), {
      decision: decision.serial,
      signal: evictionSignal(decision),
      victim: decision.victim.workload.path,
      candidates: decision.ranking.length,
      unreadable: decision.unreadable.length,
    });
  }

  escalated({ decision, reason }: EffectOf<'escalate'>): void {
    this.#log.warn(`${reason}: ${meansOf(decision.victim.workload).kill} for ${decision.victim.workload.name}`, {
      decision: decision.serial,
    });
  }

  signalled(crossingToSignalNs: bigint): void {
    this.#metrics.wakeToSignal(Number(crossingToSignalNs) / 1e9);
  }

  outcome(outcome: Outcome, record: JournalRecord): void {
    const signal = evictionSignal(outcome.decision);
    const { decision, freedBytes, expectedBytes, spansMs } = record;
    const fields = { decision, freedBytes, expectedBytes, spansMs };
    if (outcome.counted) this.#metrics.evicted(signal);
    switch (outcome.result) {
      case 'killed':
        this.#log.warn(outcomeMessage(outcome), fields);
        return;
      case 'ineffective':
        this.#metrics.ineffective(signal);
        this.#log.warn(outcomeMessage(outcome), fields);
        return;
      case 'failed':
        this.#metrics.failed(signal);
        this.#log.error(outcomeMessage(outcome), { decision });
        return;
      case 'vanished':
        this.#log.info(outcomeMessage(outcome), { decision });
        return;
      case 'abandoned':
        this.#log.warn(outcomeMessage(outcome), { decision });
        return;
    }
  }

  threshold(effect: EffectOf<'threshold'>): void {
    const { threshold, met } = effect;
    if (met) this.#metrics.thresholdMet(threshold.signal, thresholdKind(threshold));
    this.#log[met ? 'warn' : 'info'](thresholdMessage(effect), { signal: threshold.signal });
  }

  condition({ type, status }: EffectOf<'condition'>): void {
    this.#metrics.condition(type, status);
    this.#log[status ? 'warn' : 'info'](`node condition ${type} is now ${String(status)}`, { condition: type, status });
  }

  /** What already was so when the loop began to run. */
  resumed({ conditions }: Pick<State, 'conditions'>): void {
    for (const type of conditions) this.#metrics.condition(type, true);
  }

  reclaim(effect: EffectOf<'reclaim'>): void {
    this.#log.warn(reclaimMessage(effect), { signal: effect.reclaim.threshold.signal, collections: effect.reclaim.collections });
  }

  reclaimed(effect: EffectOf<'reclaimed'>): void {
    const { enough, errors, reclaim, yields = [] } = effect;
    for (const freed of yields) this.#metrics.reclaimed(freed.collection, freed, hasFailed(freed.collection, effect));
    this.#log[enough && errors.length === 0 ? 'info' : 'warn'](reclaimMessage(effect), { signal: reclaim.threshold.signal });
  }

  /** Tells whether it is new: the same trouble may come with every step. */
  error({ message }: EffectOf<'error'>): boolean {
    const isNew = !this.#said.has(STEP + message);
    this.#lasting(STEP, new Map([[message, message]]), STEPS_AGAIN);
    this.#stepFailed = true;
    return isNew;
  }

  /** Something beside the loop is broken; said once, for it may be so at every step. */
  listenerFailed(error: unknown): void {
    if (this.#listenerFailed) return;
    this.#listenerFailed = true;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log.error(`what follows a step failed; evictions are not affected, please report it: ${reason}`);
  }

  released({ hold }: EffectOf<'release'>): void {
    this.#log.info(releaseText(hold), { decision: hold.decision, unit: hold.unit });
  }

  releaseRefused({ unit }: Hold, why: NotStarted): void {
    this.#log.error(withHint(notStartedText(unit, why), why.hint), { code: 'EVICTD_UNIT_NOT_STARTED', unit });
  }

  /** It comes back as its Restart= says. */
  notStopped({ unit, decision }: Hold, errors: readonly string[]): void {
    this.#log.error(`${unit} was to be kept stopped, and systemd does not stop it: ${errors.join('; ')}`, {
      code: 'EVICTD_UNIT_NOT_STOPPED',
      decision,
      unit,
    });
  }

  /** Of what was evicted; see removalRecord. */
  removal({ name }: Workload, error: string | undefined): void {
    if (error === undefined) this.#log.info(removalText(name, error));
    else this.#log.warn(removalText(name, error), { code: 'EVICTD_CRI_REMOVE' });
  }

  /** How many units are kept stopped. */
  held(units: number): void {
    this.#metrics.held(units);
  }

  alert(effect: EffectOf<'alert'>): void {
    const { alert, threshold } = effect;
    this.#metrics.alerted(alert, threshold.signal);
    this.#log.error(alertMessage(effect), { alert, signal: threshold.signal });
  }

  sampled(observations: Observations, thresholds: readonly Threshold[]): void {
    this.#metrics.observe(observations, thresholds);
    if (!this.#stepFailed) this.#lasting(STEP, new Map(), STEPS_AGAIN);
    this.#stepFailed = false;
    const asked = new Set(thresholds.flatMap(operandsOf).map(({ signal }) => signal));
    const missing = [...observations.missing].filter(([signal]) => asked.has(signal));
    this.#lasting(
      'signal ',
      new Map(missing.map(([signal, reason]) => [signal, `${signal} cannot be read: ${reason}`])),
      'can be read again',
    );
  }

  sources(notifiers: readonly NotifierState[], problems: readonly SourceProblem[]): void {
    this.#metrics.notifiers(notifiers);
    this.#metrics.problems(problems);
    const seen = new Map<string, number>();
    const named = notifiers.map((notifier) => {
      const kind = `${notifier.mechanism} ${notifier.signal}`;
      const nth = (seen.get(kind) ?? 0) + 1; // its target moves with the page cache
      seen.set(kind, nth);
      return { key: `${kind} ${String(nth)}`, notifier };
    });
    const dead = named.filter(({ notifier }) => !notifier.live).map(({ key, notifier }) => [key, notifierMessage(notifier)] as const);
    this.#lasting('notifier ', new Map(dead), 'is live again');
    const stuck = named.filter(({ notifier: { live, reason } }) => live && reason !== undefined);
    this.#lasting('stuck notifier ', new Map(stuck.map(({ key, notifier }) => [key, stuckMessage(notifier)])), 'is over');
    this.#lasting(
      'source ',
      new Map(problems.map(({ code, message, hint }) => [`${code} ${message}`, withHint(message, hint)])),
      'is solved',
    );
  }

  /** Says what is new and what is over. */
  #lasting(prefix: string, troubles: ReadonlyMap<string, string>, over: string): void {
    for (const [key, message] of troubles) {
      if (!this.#said.has(prefix + key)) this.#log.warn(message);
      this.#said.set(prefix + key, message);
    }
    for (const [key, message] of this.#said) {
      if (!key.startsWith(prefix) || troubles.has(key.slice(prefix.length))) continue;
      this.#said.delete(key);
      this.#log.info(`${over}: ${message}`);
    }
  }
}

/** Something else wakes for it, or it would say so. */
function stuckMessage({ mechanism, target, reason, hint }: NotifierState): string {
  return withHint(`notifier ${mechanism} stands on ${target} and could not be moved: ${reason ?? 'unknown'}`, hint);
}

function notifierMessage({ mechanism, signal, target, reason, hint, essential }: NotifierState): string {
  const meanwhile = essential ? `; until it can be, ${signal} is polled` : '';
  return withHint(`notifier ${mechanism} on ${target} could not be armed: ${reason ?? 'unknown'}${meanwhile}`, hint);
}

function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message} (${hint})`;
}
