import type { Effect } from '../core/effect.js';
import type { Decision } from '../core/eviction.js';
import { initialState, type Policy, type State } from '../core/state.js';
import { step } from '../core/step.js';
import type { Candidates } from '../core/workload.js';
import type { Journal } from './journal.js';
import { Pace } from './pace.js';
import type { Evictor, Node, Reclaimer, StepListener, Wake, WorkloadSource } from './ports.js';
import { decisionRecord, escalationRecord, outcomeRecord, reclaimRecord } from './record.js';
import { Reclaims } from './reclaims.js';
import { rehearse } from './rehearsal.js';
import type { Reporter } from './reporter.js';
import { tell } from './telling.js';
import { nextLookNs, victimLookNs } from './timetable.js';
import { Victims } from './victims.js';

export interface MonitorParts {
  readonly node: Node;
  readonly workloads: WorkloadSource;
  readonly evictor: Evictor;
  readonly reclaimer: Reclaimer;
  readonly journal: Journal;
  readonly reporter: Reporter;
  /** Told of every step, in this order. */
  readonly listeners: readonly StepListener[];
}

/** Caches are cold again after some such time without a reading. */
const COLD_NS = 200_000_000n;

const NOTHING: Candidates = { usages: [], unreadable: [], timeNs: 0n };

/** The only state and the only timers: turns wakes into steps, and what a step wants into action. */
export class Monitor {
  readonly #parts: MonitorParts;
  readonly #victims: Victims;
  readonly #reclaims: Reclaims;
  readonly #pace = new Pace();
  #policy: Policy;
  #intervalNs: bigint;
  #state: State = initialState;
  #timer: NodeJS.Timeout | undefined;
  #tickAtNs = 0n;
  #dueAtNs: bigint | undefined;
  #notBeforeNs: bigint | undefined;
  /** A wake that waits for its turn. */
  #waiting: { readonly wake: Wake; readonly atNs: bigint } | undefined;
  /** When the last reading began. */
  #readNs = 0n;
  #running = false;

  constructor(parts: MonitorParts, policy: Policy, intervalNs: bigint) {
    this.#parts = parts;
    this.#victims = new Victims(parts.evictor, (atNs) => {
      if (this.#running) this.#pass({ source: 'victim', atNs });
    });
    this.#reclaims = new Reclaims(parts.reclaimer, parts.node);
    this.#policy = policy;
    this.#intervalNs = intervalNs;
  }

  /** Rehearses what an eviction needs, arms, and takes the first reading. */
  start(): void {
    this.#running = true;
    if (this.#policy.hasWorkloadSource) rehearse(this.#policy, this.#parts.workloads, this.#parts.evictor);
    this.#tick('start');
  }

  /** Another policy from now on; thresholds that stay keep their grace periods, evictions in flight go on. */
  reconfigure(policy: Policy, intervalNs: bigint): void {
    if (!this.#running) return;
    this.#policy = policy;
    this.#intervalNs = intervalNs;
    if (policy.departures['failed-kill']) this.#notBeforeNs = undefined; // what the policy before waits for, this one does not
    this.#tick('reload');
  }

  /** Those that got SIGTERM and may still end by themselves. */
  get terminating(): readonly Decision[] {
    return this.#state.evictions.filter(({ phase }) => phase === 'terminating').map(({ decision }) => decision);
  }

  /** Stops deciding. Victims that got SIGTERM are left to themselves. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#victims.close();
    for (const listener of this.#parts.listeners) {
      this.#told(() => {
        listener.close();
      });
    }
  }

  #tick(source: 'start' | 'tick' | 'reload'): void {
    const atNs = process.hrtime.bigint();
    this.#tickAtNs = atNs + this.#intervalNs;
    this.#reclaims.ripen();
    this.#parts.node.requestFilesystems(() => {
      if (this.#running) this.#pass({ source: 'filesystem', atNs: process.hrtime.bigint() });
    });
    this.#arm();
    this.#pass({ source, atNs });
  }

  /** A threshold that is already crossed when it is armed does not wake: where anything was armed, a pass follows. */
  #arm(): boolean {
    const armed = this.#parts.node.arm(this.#policy.thresholds, (wake) => {
      this.#woken(wake);
    });
    this.#parts.workloads.refresh();
    this.#parts.reporter.sources(this.#parts.node.notifiers(), this.#parts.workloads.problems());
    return armed;
  }

  #woken(wake: Wake): void {
    if (!this.#running) return;
    if (wake.approaching) {
      this.#warmUp();
      return;
    }
    const nowNs = process.hrtime.bigint();
    const notBeforeNs = this.#pace.notBeforeNs(nowNs);
    if (notBeforeNs > nowNs) {
      this.#waiting ??= { wake, atNs: notBeforeNs };
      this.#schedule();
      return;
    }
    const decided = this.#pass(wake);
    if (!decided && this.#arm()) this.#pass(wake);
    this.#pace.passed(nowNs, decided);
  }

  /**
   * Reads what the pass after a crossing will read, and drops it: after a second of rest caches are cold, and the reading takes several times as long (node 0.25
   * for 0.03 ms). Once is enough for a while, or a value that swings before its limit would keep the loop busy. A crossing that comes meanwhile waits for no more
   * than it would have waited for in its own pass.
   */
  #warmUp(): void {
    const nowNs = process.hrtime.bigint();
    if (nowNs - this.#readNs < COLD_NS) return;
    this.#readNs = nowNs;
    this.#parts.node.read();
    if (this.#policy.hasWorkloadSource) this.#parts.workloads.candidates();
  }

  /** One pass: read, decide, act, report. Tells whether anything was decided. */
  #pass(wake: Wake): boolean {
    const wakeNs = process.hrtime.bigint();
    this.#readNs = wakeNs;
    if (this.#notBeforeNs !== undefined && wakeNs < this.#notBeforeNs) {
      if (wake.source === 'tick') this.#parts.reporter.sampled(this.#parts.node.read(), this.#policy.thresholds); // it is alive all the same
      this.#schedule();
      return false;
    }
    const { node, workloads, journal, reporter, listeners } = this.#parts;
    const victims = this.#victims.readings();
    const observations = node.read();
    const asked: Candidates[] = [];
    const input = {
      nowNs: process.hrtime.bigint(),
      layout: 'single',
      observe: () => observations,
      victims,
      reclaimed: this.#reclaims.take(),
      candidates: () => {
        const found = this.#policy.hasWorkloadSource ? workloads.candidates() : NOTHING;
        asked.push(found);
        return found;
      },
    } as const;
    const { state, effects, dueAtNs, notBeforeNs } = step(this.#policy, this.#state, input);
    this.#state = state;
    this.#dueAtNs = dueAtNs;
    this.#notBeforeNs = notBeforeNs;
    for (const effect of effects) this.#act(effect, wake, wakeNs);
    node.decided(observations);
    for (const effect of effects) tell(effect, journal, reporter);
    reporter.sampled(observations, this.#policy.thresholds);
    if (listeners.length > 0) {
      const report = { wake, policy: this.#policy, input, observations, candidates: asked, state, effects };
      for (const listener of listeners) {
        this.#told(() => {
          listener.stepped(report);
        });
      }
    }
    this.#schedule();
    return effects.some(({ kind }) => kind !== 'attempt');
  }

  /** A listener must not throw; if one does, the loop goes on, and the others are told. */
  #told(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#parts.reporter.listenerFailed(error);
    }
  }

  /** What cannot wait. The record of a decision stands before the signal goes out. */
  #act(effect: Effect, wake: Wake, wakeNs: bigint): void {
    const { journal, reporter } = this.#parts;
    switch (effect.kind) {
      case 'evict':
        journal.record(decisionRecord(effect.decision, wake));
        if (!effect.decision.dryRun) this.#evict(effect.decision, wake, wakeNs);
        return;
      case 'escalate':
        journal.record(escalationRecord(effect));
        this.#victims.escalate(effect.decision);
        return;
      case 'outcome': {
        const times = this.#victims.end(effect.outcome.decision.serial);
        const record = outcomeRecord(effect.outcome, times);
        journal.record(record);
        reporter.outcome(effect.outcome, record);
        return;
      }
      case 'reclaim':
        journal.record(reclaimRecord(effect));
        this.#reclaims.begin(effect.reclaim, () => {
          if (this.#running) this.#pass({ source: 'reclaim', atNs: process.hrtime.bigint() });
        });
        return;
      case 'attempt':
      case 'reclaimed':
      case 'threshold':
      case 'condition':
      case 'alert':
      case 'error':
        return;
    }
  }

  #evict(decision: Decision, wake: Wake, wakeNs: bigint): void {
    const { crossingNs, signalNs } = this.#victims.begin(decision, wake, wakeNs);
    if (signalNs !== undefined) this.#parts.reporter.signalled(signalNs - crossingNs);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#running) return;
    const nowNs = process.hrtime.bigint();
    const nextNs = nextLookNs({
      tickAtNs: this.#tickAtNs,
      dueAtNs: this.#dueAtNs,
      wakeAtNs: this.#waiting?.atNs,
      victimAtNs: this.#victims.size === 0 ? undefined : victimLookNs(nowNs, this.#victims.lastSignalNs ?? nowNs),
      lookAtNs: this.#parts.node.lookAtNs(),
      notBeforeNs: this.#notBeforeNs,
    });
    const delayMs = nextNs <= nowNs ? 0 : Math.ceil(Number(nextNs - nowNs) / 1e6);
    this.#timer = setTimeout(() => {
      this.#fire();
    }, delayMs);
  }

  #fire(): void {
    const nowNs = process.hrtime.bigint();
    const waiting = this.#waiting;
    if (waiting && waiting.atNs <= nowNs) {
      this.#waiting = undefined;
      this.#woken(waiting.wake);
    } else if (this.#tickAtNs <= nowNs) {
      this.#tick('tick');
    } else if ((this.#parts.node.lookAtNs() ?? nowNs + 1n) <= nowNs) {
      if (this.#parts.node.look()) this.#woken({ source: 'look', atNs: nowNs });
      else this.#schedule();
    } else {
      this.#pass({ source: this.#victims.size > 0 ? 'victim' : 'deadline', atNs: nowNs });
    }
  }
}
