import type { Policy, State } from '../core/decide/state.js';
import { policySignals } from '../core/policy/condition-needs.js';
import type { Observations } from '../core/signal/observation.js';
import { NO_CANDIDATES, type Candidates } from '../core/workload/workload.js';
import { stepOn } from './step-answers.js';
import type { Actors } from './effects/handler.js';
import { runEffects } from './effects/run.js';
import { EFFECTS } from './effects/table.js';
import type { MonitorParts } from './monitor-parts.js';
import type { RestoredState } from '../state/saved-state.js';
import { WakeThrottle } from './wake-throttle.js';
import type { StepListener, Wake, WakeSource } from './ports/ports.js';
import { isOfOperator } from './ports/wake.js';
import { Reclaims } from './reclaims.js';
import { Rehearsal } from './rehearsal.js';
import { heldInput } from './unit-releases.js';
import { reconsider, resume } from './resumption.js';
import { notifyListeners } from './step-listeners.js';
import { nextLookNs, victimLookNs } from './next-look.js';
import { IdleReadings } from './idle-readings.js';
import { QuietTicks } from './quiet-ticks.js';
import { Victims } from './victims.js';

/**
 * The control loop: turns wakes into steps and carries out their effects. It has the only state, and the only timers
 * that lead to a decision.
 */
export class Monitor {
  readonly #victims: Victims;
  readonly #reclaims: Reclaims;
  readonly #actors: Actors;
  readonly #throttle = new WakeThrottle();
  readonly #rehearsal: Rehearsal;
  #state: State;
  #timer: NodeJS.Timeout | undefined;
  #tickAtNs = 0n;
  #passTookNs = 0n;
  #dueAtNs: bigint | undefined;
  #notBeforeNs: bigint | undefined;
  /** A wake that WakeThrottle holds back. */
  #waiting: { readonly wake: Wake; readonly atNs: bigint } | undefined;
  #running = false;
  readonly #quiet: QuietTicks;
  readonly #idleReadings: IdleReadings;
  readonly #candidates = (reading?: 'bounds'): Candidates =>
    this.policy.hasWorkloadSource ? this.parts.workloads.candidates(reading) : NO_CANDIDATES;
  /** Whether it is still unknown if the configuration permits an eviction in flight. */
  #isUndecided = false;
  /** Whether the loop waits for something else than the next tick. */
  readonly #isAwaited = (): boolean =>
    this.#isUndecided || [this.#dueAtNs, this.#notBeforeNs, this.#waiting].some((at) => at !== undefined);

  constructor(
    private readonly parts: MonitorParts,
    private policy: Policy,
    private intervalNs: bigint,
    private readonly restored: RestoredState,
  ) {
    this.#state = restored.state;
    this.#victims = new Victims(parts.evictor, this.#passOn.bind(this, 'victim'), parts.beforeSignal?.before.bind(parts.beforeSignal));
    this.#reclaims = new Reclaims(parts.reclaimer, parts.node);
    this.#actors = {
      victims: this.#victims,
      reclaims: this.#reclaims,
      ...{ releases: parts.releases, reporter: parts.reporter, policies: parts.policies, processes: parts.processes },
      onReclaimed: this.#passOn.bind(this, 'reclaim', undefined),
    };
    this.#rehearsal = new Rehearsal(parts);
    this.#quiet = new QuietTicks(parts, this.#notify.bind(this));
    this.#idleReadings = new IdleReadings(parts, this.#rehearsal);
  }

  /** Rehearses an eviction, continues those of the previous evictd, arms the notifiers, and makes the first pass. */
  start(): void {
    this.#running = true;
    if (this.policy.hasWorkloadSource) this.#rehearsal.compile(this.policy);
    this.parts.reporter.resumed(this.#state);
    if (this.#state.evictions.length > 0) this.#isUndecided = resume(this.#victims, this.restored, this.#candidates());
    this.#tick('start');
  }

  /** The native layer has carried out a standing order; an action of a policy has ended; the pressure has risen. */
  readonly carriedOut = this.#passOn.bind(this, 'standing_order');
  readonly policyActed = this.#passOn.bind(this, 'policy', undefined);
  readonly pressed = (): void => {
    this.#quiet.hurry(process.hrtime.bigint());
    this.#schedule();
  };

  /**
   * Puts another policy in force. Thresholds that stay keep their grace periods; evictions in flight continue as after
   * a restart.
   */
  reconfigure(policy: Policy, intervalNs: bigint): void {
    if (!this.#running) return;
    this.policy = policy;
    this.intervalNs = intervalNs;
    if (policy.departures['failed-kill']) this.#notBeforeNs = undefined; // only the former policy waits after a failed kill
    this.#reconsider();
    this.#tick('reload');
  }

  /** A step for what an operator asks. What a standing order has done counts before. Returns whether it was made. */
  readonly ask = (request: Omit<Wake, 'atNs'>): boolean => {
    if (this.parts.orders?.withdraw() === false) this.carriedOut();
    if (this.#running) this.#pass({ ...request, atNs: process.hrtime.bigint() });
    return this.#running;
  };

  #reconsider(): void {
    this.#isUndecided = reconsider(this.#victims, this.#state.evictions, this.#candidates);
  }

  /** Requests new readings of the filesystems, and makes a pass when they arrive, unless that is no news. */
  lookAtFilesystems(isNews = (): boolean => true): void {
    this.parts.node.requestFilesystems(() => {
      if (isNews()) this.#passOn('filesystem');
    });
  }

  get remaining(): Pick<State, 'held' | 'evictions' | 'evictionTimes' | 'withoutYield' | 'baselines' | 'pauses' | 'taints' | 'drain'> {
    return this.#state;
  }

  /** Stops deciding. Victims that have got SIGTERM are left to the next evictd. */
  stop(): void {
    this.#running = false;
    this.parts.orders?.withdraw();
    clearTimeout(this.#timer);
    this.parts.keeper.keep(this.#state, this.#victims.signals());
    this.#victims.close();
    this.#notify((listener) => {
      listener.close();
    });
  }

  #tick(source: 'start' | 'tick' | 'reload'): void {
    const atNs = process.hrtime.bigint();
    this.#tickAtNs = atNs + this.intervalNs;
    if (source === 'tick' && !this.#isAwaited() && this.#quiet.tickWithoutPass(this.policy, this.#state, atNs)) {
      if ((this.#quiet.policiesAtNs ?? this.#tickAtNs) < this.#tickAtNs) this.#fire(atNs);
      else this.#schedule();
      return;
    }
    this.#quiet.passes(atNs);
    this.#reclaims.useLastReadings();
    // Samplers watch what is free: at rest only a failure, or a threshold that is met, is news.
    this.lookAtFilesystems(() => source !== 'tick' || this.#isAwaited() || !this.#quiet.isSteady(this.policy, this.#state));
    this.#arm();
    this.#pass({ source, atNs });
  }

  /** Returns whether anything was armed. A pass must follow then: a threshold that is already crossed does not wake. */
  #arm(): boolean {
    const armed = this.parts.node.arm(this.policy.thresholds, this.#woken.bind(this), policySignals(this.policy.policies ?? []));
    this.parts.workloads.refresh();
    const notifiers = this.parts.node.notifiers();
    const problems = this.parts.workloads.problems();
    this.#quiet.armed(this.policy, notifiers, problems);
    this.parts.reporter.sources(notifiers, problems);
    return armed;
  }

  #woken(wake: Wake): void {
    if (!this.#running) return;
    if (wake.approaching) {
      this.#idleReadings.approached(this.parts.orders?.stands === false, this.#approached);
      return;
    }
    const nowNs = process.hrtime.bigint();
    const atNs = this.#throttle.notBeforeNs(nowNs);
    if (atNs > nowNs) {
      this.#waiting ??= { wake, atNs };
      this.parts.orders?.postpone(atNs);
      this.#schedule();
      return;
    }
    const decided = this.#pass(wake);
    if (!decided && this.#arm()) this.#pass(wake);
    this.#throttle.handled(nowNs, decided);
  }

  /** Reads the node for a client of the metrics. */
  renew(): void {
    if (this.#running) this.#idleReadings.renew();
  }

  /** Gives a standing order, or rehearses a decision where none can be given: both may take as long as the rest of the way. */
  readonly #approached = (observations: Observations, nowNs: bigint): void => {
    this.#order(observations, nowNs, false);
    if (this.parts.orders?.stands !== true) this.#idleReadings.warmUp(this.policy, nowNs);
    this.#schedule();
  };

  #order(observations: Observations, passNs: bigint, hasChanged: boolean): void {
    const { orders, node } = this.parts;
    const candidates = this.#candidates.bind(this, 'bounds');
    const pass = { observations, layout: node.layout(), candidates, passNs, hasChanged };
    if (this.#notBeforeNs === undefined) orders?.follow(this.policy, this.#state, pass);
    else orders?.withdraw();
  }

  /** A pass by a callback, which may come after the loop has stopped. */
  #passOn(source: WakeSource, atNs = process.hrtime.bigint()): void {
    if (this.#running) this.#pass({ source, atNs });
  }

  /** One pass: read, decide, act, report. Returns whether anything was decided. */
  #pass(wake: Wake): boolean {
    const wakeNs = process.hrtime.bigint();
    this.#idleReadings.passed(wakeNs);
    if (this.#notBeforeNs !== undefined && wakeNs < this.#notBeforeNs && !isOfOperator(wake)) {
      if (wake.source === 'tick' || wake.source === 'watchdog') this.#quiet.tickWhileWaiting(this.policy, this.parts.node.read(), wakeNs);
      this.#schedule();
      return false;
    }
    if (this.#isUndecided && wake.source !== 'victim') this.#reconsider();
    const { node, journal, keeper, reporter, heartbeat, orders } = this.parts;
    const victims = this.#victims.readings();
    const observations = node.read();
    const readings = {
      ...{ layout: node.layout(), observe: () => observations, victims, reclaimed: this.#reclaims.take() },
      ...heldInput(this.parts.releases, this.#state.held),
    } as const;
    const parts = { ...this.parts, wake, candidates: this.#candidates.bind(this, 'bounds') };
    const { input, given, times, result } = stepOn(this.policy, this.#state, readings, parts);
    const { state, effects } = result;
    const passTimes = { wakeNs, ...times, chosenNs: process.hrtime.bigint() };
    ({ state: this.#state, dueAtNs: this.#dueAtNs, notBeforeNs: this.#notBeforeNs } = result);
    runEffects(EFFECTS, effects, wake, passTimes, {
      ...{ journal, reporter, actors: this.#actors },
      saveState: () => {
        keeper.keep(state, this.#victims.signals());
      },
      performed: () => {
        keeper.follow(state, this.#victims.signals(), input.nowNs);
        if (input.ordered) orders?.adopted();
        node.decided(observations);
      },
    });
    reporter.sampled(observations, this.policy.thresholds);
    reporter.kept(this.policy, state, input.bootNs);
    this.#notify((listener) => {
      listener.stepped({ wake, policy: this.policy, input, observations, ...given, state, effects });
    });
    heartbeat.beat(wakeNs);
    this.#order(observations, wakeNs, effects.length > 0);
    this.#quiet.passed(this.policy, state, given.policyReadings, input.nowNs);
    this.#passTookNs = process.hrtime.bigint() - wakeNs;
    this.#schedule();
    return effects.some(({ kind }) => kind !== 'attempt');
  }

  #notify(call: (listener: StepListener) => void): void {
    notifyListeners(this.parts.listeners, call, (error) => {
      this.parts.reporter.listenerFailed(error);
    });
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#running) return;
    const nowNs = process.hrtime.bigint();
    const nextNs = nextLookNs({
      ...{ tickAtNs: this.#tickAtNs, dueAtNs: this.#dueAtNs, notBeforeNs: this.#notBeforeNs, wakeAtNs: this.#waiting?.atNs },
      victimAtNs: this.#victims.isDue ? victimLookNs(nowNs, this.#victims.lastSignalNs ?? nowNs, this.#passTookNs) : undefined,
      ...{ policiesAtNs: this.#quiet.policiesAtNs, orderAtNs: this.parts.orders?.dueNs },
      ...{ lookAtNs: this.parts.node.lookAtNs(), heartbeatAtNs: this.parts.heartbeat.dueAtNs() },
    });
    const delayMs = nextNs <= nowNs ? 0 : Math.ceil(Number(nextNs - nowNs) / 1e6);
    this.#timer = setTimeout(this.#fire.bind(this), delayMs, nextNs);
  }

  /** Timers have whole milliseconds, and may fire up to one early. */
  #fire(nextNs: bigint): void {
    const nowNs = process.hrtime.bigint();
    const waiting = this.#waiting;
    if (nowNs < nextNs) {
      this.#schedule();
    } else if (waiting && waiting.atNs <= nowNs) {
      this.#waiting = undefined;
      this.#woken(waiting.wake);
    } else if (this.#tickAtNs <= nowNs) {
      this.#tick('tick');
    } else if ((this.parts.node.lookAtNs() ?? nowNs + 1n) <= nowNs) {
      if (this.parts.node.look()) this.#woken({ source: 'look', atNs: nowNs });
      else this.#schedule();
    } else if ((this.parts.orders?.dueNs ?? nowNs + 1n) <= nowNs) {
      this.#order(this.parts.node.read(), nowNs, false);
      this.#schedule();
    } else if ((this.parts.heartbeat.dueAtNs() ?? nowNs + 1n) <= nowNs) {
      this.#pass({ source: 'watchdog', atNs: nowNs });
    } else {
      const looked = this.#quiet.policiesWithoutPass(this.policy, this.#state, this.#dueAtNs, nowNs);
      this.#state = looked ?? this.#state;
      if (looked === undefined) this.#pass({ source: this.#victims.size > 0 ? 'victim' : 'deadline', atNs: nowNs });
      else this.#schedule();
    }
  }
}
