import type { Decision, UnitDecision } from '../core/eviction.js';
import type { ShutdownGracePeriod } from '../core/shutdown-config.js';
import { groupByPriority, type ShutdownWorkload } from '../core/shutdown-plan.js';
import { advanceShutdown, leftOver, type EndedWorkload, type EndingWorkload } from '../core/shutdown-progress.js';
import { unprotected, workloadsAtShutdown } from '../core/shutdown-workloads.js';
import type { Candidates, Workload } from '../core/workload.js';
import type { Evictor, WorkloadSource } from './ports.js';
import type { ShutdownCourse, ShutdownPlan } from './shutdown-record.js';
import { victimLookNs } from './timetable.js';
import { Victims, type Ending } from './victims.js';

/** What decides how a unit ends is asked for when its turn comes, and known within milliseconds. */
const AWAITS_NS = 250_000_000n;
const AWAITED_LOOK_NS = 5_000_000n;

export interface ShutdownRunParts {
  readonly workloads: Pick<WorkloadSource, 'candidates'>;
  readonly evictor: Evictor;
  /** By workload id: an eviction has chosen it. */
  readonly isEvicted: (id: string) => boolean;
}

export interface ShutdownRunEvents {
  ended(ended: EndedWorkload, group: ShutdownGracePeriod): void;
  /** @param late  whose turn it would have been, and who were not there then */
  over(course: ShutdownCourse, late: readonly Workload[]): void;
}

/** One shutdown, from the first group to the last. */
export class ShutdownRun {
  readonly #parts: ShutdownRunParts;
  readonly #events: ShutdownRunEvents;
  readonly #periods: readonly ShutdownGracePeriod[];
  readonly #victims: Victims<Ending>;
  readonly #beganNs = process.hrtime.bigint();
  readonly #told = new Set<string>();
  #ending: readonly EndingWorkload[] = [];
  readonly #ended: EndedWorkload[] = [];
  #group = -1;
  #groupBeganNs = 0n;
  #isTold = false;
  #running = true;
  #timer: NodeJS.Timeout | undefined;

  /** @param periods  the lowest priority first */
  constructor(parts: ShutdownRunParts, periods: readonly ShutdownGracePeriod[], events: ShutdownRunEvents) {
    this.#parts = parts;
    this.#periods = periods;
    this.#events = events;
    this.#victims = new Victims<Ending>(parts.evictor, { empty: () => false, close: () => undefined }, () => {
      if (this.#running) this.#scheduleAt(0n);
    });
  }

  /** Who would end with whom, as of now. Whatever is to be known of them by the time of their turn is asked for. */
  plan(): ShutdownPlan {
    const candidates = this.#parts.workloads.candidates();
    const { ended, leftAlone } = workloadsAtShutdown(candidates);
    for (const workload of ended) candidates.awaited?.(workload, AWAITS_NS);
    return { groups: groupByPriority(this.#periods, ended), leftAlone, unreadable: candidates.unreadable };
  }

  /** Tells the first group. What comes of it is told on later turns, unless there is nobody. */
  begin(): void {
    this.#nextGroup();
  }

  get course(): ShutdownCourse {
    return { tookNs: process.hrtime.bigint() - this.#beganNs, ended: this.#ended, ending: this.#ending };
  }

  /** Ends nobody any more. May be called twice. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#victims.close();
  }

  #nextGroup(): void {
    this.#group += 1;
    if (this.#group >= this.#periods.length) {
      this.#finish();
      return;
    }
    this.#groupBeganNs = process.hrtime.bigint();
    this.#isTold = false;
    this.#step();
  }

  #step(): void {
    if (!this.#isTold && !this.#tell()) {
      this.#scheduleAt(process.hrtime.bigint() + AWAITED_LOOK_NS);
      return;
    }
    this.#look();
  }

  /** Who is there when the turn of the group comes. false: how some of them end is going to be known in a moment. */
  #tell(): boolean {
    const candidates = this.#parts.workloads.candidates();
    const { ended } = workloadsAtShutdown(candidates);
    const { workloads = [] } = groupByPriority(this.#periods, ended)[this.#group] ?? {};
    const members = workloads.filter(({ workload }) => !this.#told.has(workload.id));
    const isAwaited = members.map(({ workload }) => candidates.awaited?.(workload, AWAITS_NS)).includes(true);
    if (isAwaited && process.hrtime.bigint() - this.#groupBeganNs < AWAITS_NS) return false;
    this.#ending = [...this.#ending, ...members.map((member) => this.#tellOne(member, candidates))];
    this.#isTold = true;
    return true;
  }

  /** SIGTERM first, also where there is no time: a unit is stopped by systemd, which would start it again else. */
  #tellOne({ workload, gracePeriodNs }: ShutdownWorkload, candidates: Candidates): EndingWorkload {
    const nowNs = process.hrtime.bigint();
    const serial = this.#told.size + 1;
    this.#told.add(workload.id);
    const unit: UnitDecision | undefined = workload.unit && { evictions: 0, stop: candidates.stop?.(workload, true), hold: undefined };
    const graceNs = gracePeriodNs > 0n ? gracePeriodNs : 1n;
    const ending: Pick<Decision, 'serial' | 'graceNs' | 'decidedAtNs'> = { serial, graceNs, decidedAtNs: nowNs };
    this.#victims.begin({ ...ending, ...(unit && { unit }), victim: { workload: unprotected(workload) } }, { atNs: nowNs }, nowNs);
    const own = nowNs + gracePeriodNs;
    const killsAtNs = own < this.#endsAtNs ? own : this.#endsAtNs;
    return { serial, workload, group: this.#group, toldAtNs: nowNs, gracePeriodNs, killsAtNs, killedAtNs: undefined };
  }

  get #endsAtNs(): bigint {
    return this.#groupBeganNs + (this.#periods[this.#group]?.gracePeriodNs ?? 0n);
  }

  #look(): void {
    const readings = this.#victims.readings();
    const nowNs = process.hrtime.bigint();
    const group = { index: this.#group, isLast: this.#group === this.#periods.length - 1, endsAtNs: this.#endsAtNs };
    const { ending, ended, kill, isOver, dueAtNs } = advanceShutdown(this.#ending, readings, group, this.#parts.isEvicted, nowNs);
    this.#ending = ending;
    for (const one of kill) this.#victims.escalate(one);
    for (const one of ended) this.#hasEnded(one);
    if (isOver) {
      this.#nextGroup();
      return;
    }
    const lookNs = victimLookNs(nowNs, this.#victims.lastSignalNs ?? nowNs);
    this.#scheduleAt(lookNs < dueAtNs ? lookNs : dueAtNs);
  }

  #hasEnded(ended: EndedWorkload): void {
    this.#victims.end(ended.serial);
    this.#ended.push(ended);
    const group = this.#periods[ended.group];
    if (group !== undefined) this.#events.ended(ended, group);
  }

  #finish(): void {
    const readings = this.#victims.readings();
    const nowNs = process.hrtime.bigint();
    const left = this.#ending.map((one) => leftOver(one, readings.get(one.serial), nowNs));
    this.#ending = [];
    for (const one of left) this.#hasEnded(one);
    this.stop();
    const late = workloadsAtShutdown(this.#parts.workloads.candidates()).ended.filter(({ id }) => !this.#told.has(id));
    this.#events.over(this.course, late);
  }

  #scheduleAt(atNs: bigint): void {
    clearTimeout(this.#timer);
    const nowNs = process.hrtime.bigint();
    this.#timer = setTimeout(
      () => {
        this.#step();
      },
      atNs <= nowNs ? 0 : Math.ceil(Number(atNs - nowNs) / 1e6),
    );
  }
}
