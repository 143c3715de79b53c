import { taintsInForce } from '../core/disruption/taint-step.js';
import { budgetOf } from '../core/budget/eviction-budget.js';
import type { Observations } from '../core/signal/observation.js';
import type { Stall } from '../core/signal/pressure-share.js';
import type { Hold } from '../core/systemd/unit-hold.js';
import type { Decision } from '../core/decide/eviction.js';
import type { Policy, State } from '../core/decide/state.js';
import { evictionSignal } from '../core/message/eviction-signal.js';
import { firstCandidates } from '../core/rank/first-candidates.js';
import { notStartedText } from '../core/message/unit-message.js';
import type { NotStarted } from '../core/systemd/unit-start.js';
import { operandsOf, type Threshold } from '../core/threshold/threshold.js';
import type { Workload } from '../core/workload/workload.js';
import type { Log } from '../log/log.js';
import type { EffectReport } from './effects/report.js';
import type { NotifierState, SourceProblem } from './ports/ports.js';
import type { Metrics } from './ports/metrics.js';
import type { JournalRecord } from '../journal/records/record.js';
import { removalText } from '../journal/records/node-records.js';
import { withHint } from '../errors.js';

const STEP = 'step ';
const STEPS_AGAIN = 'is over';

/** Writes the log and the metrics. A lasting state is logged when it begins and when it ends. */
export class Reporter {
  readonly #log: Log;
  readonly #metrics: Metrics;
  /** Lasting problems that were logged, by key. */
  #logged = new Map<string, string>();
  #stepFailed = false;
  #listenerFailed = false;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  effect<E>({ log, metric }: EffectReport<E>, effect: E, record: JournalRecord | undefined): void {
    metric?.(effect, this.#metrics);
    if (log === undefined || record === undefined) return;
    const { level, fields } = log(effect, record);
    this.#log[level](record.message, fields);
  }

  signalled(crossingToSignalNs: bigint, decision: number): void {
    this.#metrics.wakeToSignal(Number(crossingToSignalNs) / 1e9, decision);
  }

  /** A decision that would be taken now. */
  prepared(decision: Decision): void {
    this.#metrics.ranked(evictionSignal(decision), firstCandidates(decision));
  }

  /** Conditions that were true when the loop began. */
  resumed({ conditions }: Pick<State, 'conditions'>): void {
    for (const type of conditions) this.#metrics.condition(type, true);
  }

  /** Logs the error once, though it may occur in every step, and again when steps can be made. */
  stepFailed(message: string): void {
    this.#lasting(STEP, new Map([[message, message]]), STEPS_AGAIN);
    this.#stepFailed = true;
  }

  /** A listener has thrown. Logged once: it may throw at every step. */
  listenerFailed(error: unknown): void {
    if (this.#listenerFailed) return;
    this.#listenerFailed = true;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log.error(`a listener of the monitor loop failed; evictions are not affected, please report this: ${reason}`);
  }

  releaseRefused({ unit }: Hold, why: NotStarted): void {
    this.#log.error(withHint(notStartedText(unit, why), why.hint), { code: 'EVICTD_UNIT_NOT_STARTED', unit });
  }

  /** systemd refused to stop it, or was not asked. Its Restart= starts it again. */
  notStopped({ unit, decision }: Hold, errors: readonly string[]): void {
    this.#log.error(`${unit} is to be kept stopped, but is not stopped: ${errors.join('; ')}`, {
      code: 'EVICTD_UNIT_NOT_STOPPED',
      decision,
      unit,
    });
  }

  /** `unrecorded`: it was carried out, or its record was copied, without a record in the runtime directory. */
  orderFailed(outcome: 'refused' | 'outdated' | 'unrecorded' | 'impossible', message: string): void {
    if (outcome === 'unrecorded') {
      this.#log.error(`cannot write the record of a standing order: ${message}`, { code: 'EVICTD_ORDER_RECORD' });
      return;
    }
    if (outcome === 'impossible') {
      this.#log.warn(`there is no standing order, evictd evicts only by its main thread: ${message}`, { code: 'EVICTD_ORDER_FAILED' });
      return;
    }
    this.#metrics.standingOrder(outcome);
    if (outcome === 'outdated') this.#log.info(message);
    else this.#log.warn(message, { code: 'EVICTD_ORDER_FAILED' });
  }

  removal({ name }: Workload, error: string | undefined): void {
    if (error === undefined) this.#log.info(removalText(name, error));
    else this.#log.warn(removalText(name, error), { code: 'EVICTD_CRI_REMOVE' });
  }

  /** What a pass leaves for the next one. */
  kept(
    policy: Policy,
    state: Pick<State, 'held' | 'evictionTimes' | 'pauses' | 'taints' | 'taintEvictions' | 'drain'>,
    bootNs?: bigint,
  ): void {
    const { held, evictionTimes, pauses, taintEvictions } = state;
    this.#metrics.held(held.size);
    this.#metrics.paused(pauses, bootNs);
    this.#metrics.tainted(taintsInForce(policy, state), taintEvictions, bootNs);
    this.#metrics.budget(budgetOf(policy), evictionTimes);
  }

  sampled(observations: Observations, thresholds: readonly Threshold[]): void {
    this.#metrics.observe(observations, thresholds);
    if (!this.#stepFailed) this.#lasting(STEP, new Map(), STEPS_AGAIN);
    this.#stepFailed = false;
    const configured = new Set(thresholds.flatMap(operandsOf).map(({ signal }) => signal));
    const missing = [...observations.missing].filter(([signal]) => configured.has(signal));
    this.#lasting(
      'signal ',
      new Map(missing.map(([signal, reason]) => [signal, `${signal} cannot be read: ${reason}`])),
      'can be read again',
    );
  }

  /** A tick has made no pass. */
  skipped(): void {
    this.#metrics.skipped();
  }

  renewed(stalls: readonly Stall[], observations?: Observations): void {
    this.#metrics.renewed(stalls, observations);
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

  /** Logs new problems and those that are over. */
  #lasting(prefix: string, problems: ReadonlyMap<string, string>, over: string): void {
    for (const [key, message] of problems) {
      if (!this.#logged.has(prefix + key)) this.#log.warn(message);
      this.#logged.set(prefix + key, message);
    }
    for (const [key, message] of this.#logged) {
      if (!key.startsWith(prefix) || problems.has(key.slice(prefix.length))) continue;
      this.#logged.delete(key);
      this.#log.info(`${over}: ${message}`);
    }
  }
}

/** Another notifier wakes for it, or that would be reported. */
function stuckMessage({ mechanism, target, reason, hint }: NotifierState): string {
  return withHint(`notifier ${mechanism} is still at ${target} and could not be moved: ${reason ?? 'unknown'}`, hint);
}

function notifierMessage({ mechanism, signal, target, reason, hint, essential }: NotifierState): string {
  const meanwhile = essential ? `; until it can be, ${signal} is polled` : '';
  return withHint(`notifier ${mechanism} on ${target} could not be armed: ${reason ?? 'unknown'}${meanwhile}`, hint);
}
