import type { Decision } from '../../core/decide/eviction.js';
import { periodRequestedNs, type ShutdownGracePeriod } from '../../core/workload/shutdown-config.js';
import {
  awaitsRuntime,
  groupByPriority,
  shutdownGroupIndexes,
  workloadsStoppedWith,
  type ShutdownGroup,
  type ShutdownWorkload,
  unprotected,
  workloadsAtShutdown,
} from './shutdown-plan.js';
import {
  advanceShutdown,
  killTimeNs,
  minGraceNs,
  notAwaited,
  queueTimeNs,
  type EndedWorkload,
  type EndingWorkload,
} from './shutdown-progress.js';
import type { Candidates, ShutdownGroupStart, Workload } from '../../core/workload/workload.js';
import { endedBeforeSignal, ancestorPaths } from './ended-workloads.js';
import type { ShutdownRunEvents, ShutdownRunParts, ShutdownCourse, ShutdownPlan } from './shutdown-record.js';
import { awaitedLookNs, awaitAnswerNs, victimLookNs } from '../../monitor/next-look.js';
import { Victims, type DyingVictim } from '../../monitor/victims.js';
import { minBigInt } from '../../core/quantity/integer.js';
import { messageOf } from '../../errors.js';

/** The time for which evictd retries after an error: the shutdown of the machine does not wait longer. */
const TRIES_FOR_NS = 2_000_000_000n;
const TRIES_AGAIN_NS = 200_000_000n;

/** The groups of one shutdown, one after the other. */
export class ShutdownRun {
  readonly #parts: ShutdownRunParts;
  readonly #events: ShutdownRunEvents;
  readonly #periods: readonly ShutdownGracePeriod[];
  readonly #victims: Victims<DyingVictim>;
  readonly #beganNs = process.hrtime.bigint();
  /** undefined: there is no plan yet. */
  #plannedNs: bigint | undefined;
  #planned: readonly ShutdownGroup[] = [];
  readonly #signalled = new Set<string>();
  /** Ids of planned workloads that ended before they were signalled. */
  readonly #gone = new Set<string>();
  #ending: readonly EndingWorkload[] = [];
  readonly #ended: EndedWorkload[] = [];
  #turns: ReadonlyMap<string, number> = new Map();
  #group = -1;
  #groupBeganNs = 0n;
  /**
   * Workloads of the current group, by id, that are not signalled yet, because systemd has not yet answered how
   * they end, or because they contain others that have not ended. undefined: not read yet.
   */
  #awaited: ReadonlySet<string> | undefined;
  #signalsAtNs = 0n;
  /** The time since which every attempt has thrown. */
  #failingSinceNs: bigint | undefined;
  #hasStumbled = false;
  #running = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ShutdownRunParts, periods: readonly ShutdownGracePeriod[], events: ShutdownRunEvents) {
    this.#parts = parts;
    this.#periods = periods;
    this.#events = events;
    this.#victims = new Victims<DyingVictim>(parts.evictor, () => {
      if (this.#running && this.#failingSinceNs === undefined) this.#scheduleAt(0n);
    });
  }

  /** Plans, and signals the first group. Events follow later, except where there is no workload. Never throws. */
  begin(): void {
    this.#step();
  }

  get course(): ShutdownCourse {
    return { tookNs: process.hrtime.bigint() - this.#beganNs, ended: this.#ended, ending: this.#ending };
  }

  /** Ends no further workload. May be called twice. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#victims.close();
  }

  /**
   * The plan as of now; requests what has to be known of the workloads when their group begins. undefined: the
   * workloads become known within a moment.
   */
  #plan(nowNs: bigint): ShutdownPlan | undefined {
    const candidates = this.#candidates();
    if (awaitsRuntime(candidates) && nowNs - this.#beganNs < awaitAnswerNs(periodRequestedNs(this.#periods))) return undefined;
    const { ended, leftAlone } = workloadsAtShutdown(candidates);
    const groups = groupByPriority(this.#periods, ended, this.#turns);
    for (const { workloads, gracePeriodNs } of groups) {
      for (const { workload } of workloads) candidates.awaited?.(workload, awaitAnswerNs(gracePeriodNs), { sinceNs: nowNs });
    }
    return { groups, leftAlone, unreadable: candidates.unreadable };
  }

  #candidates(): Candidates {
    const candidates = this.#parts.workloads.candidates();
    const all = candidates.usages.map(({ workload }) => workload);
    const along = workloadsStoppedWith(candidates, { sinceNs: this.#group < 0 ? this.#beganNs : this.#groupBeganNs });
    this.#turns = shutdownGroupIndexes(this.#periods, all, this.#turns, along);
    return candidates;
  }

  #step(): void {
    try {
      this.#advance();
      this.#failingSinceNs = undefined;
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    const nowNs = process.hrtime.bigint();
    this.#failingSinceNs ??= nowNs;
    const reason = messageOf(error);
    if (nowNs - this.#failingSinceNs >= TRIES_FOR_NS || !this.#running) {
      const { course } = this;
      this.stop();
      this.#events.failed(course, reason);
      return;
    }
    this.#scheduleAt(nowNs + TRIES_AGAIN_NS);
    if (this.#hasStumbled) return;
    this.#hasStumbled = true;
    this.#events.retrying(reason);
  }

  #nextGroup(): void {
    this.#group += 1;
    if (this.#group >= this.#periods.length) {
      this.#finish();
      return;
    }
    // The plan's answers are sure for the first group.
    this.#groupBeganNs = (this.#group === 0 ? this.#plannedNs : undefined) ?? process.hrtime.bigint();
    this.#awaited = undefined;
    this.#signalsAtNs = 0n;
    this.#advance();
  }

  #advance(): void {
    if (this.#plannedNs === undefined) {
      const nowNs = process.hrtime.bigint();
      const plan = this.#plan(nowNs);
      if (plan === undefined) {
        this.#scheduleAt(awaitedLookNs(process.hrtime.bigint(), this.#beganNs));
        return;
      }
      this.#plannedNs = nowNs;
      this.#planned = plan.groups;
      this.#events.planned(plan);
    }
    if (!this.#running) return;
    if (this.#group < 0) {
      this.#nextGroup();
      return;
    }
    if (this.#awaited?.size !== 0 && process.hrtime.bigint() >= this.#signalsAtNs) this.#signalGroup();
    this.#look();
  }

  /**
   * Signals the workloads of the current group, except those that wait: for systemd's answer how they end, and for the
   * end of workloads inside of them. Those are read again: they may be exempt by then.
   */
  #signalGroup(): void {
    const candidates = this.#candidates();
    if (this.#awaited === undefined) this.#noteExit(candidates);
    const isMeant = ({ id }: Workload): boolean => !this.#signalled.has(id) && this.#awaited?.has(id) !== false;
    const usages = candidates.usages.filter(({ workload }) => isMeant(workload));
    const { ended } = workloadsAtShutdown({ ...candidates, usages });
    const { workloads = [], gracePeriodNs = 0n } = groupByPriority(this.#periods, ended, this.#turns)[this.#group] ?? {};
    const turn: ShutdownGroupStart = { sinceNs: this.#groupBeganNs };
    const unsure = workloads.filter(({ workload }) => candidates.awaited?.(workload, awaitAnswerNs(gracePeriodNs), turn) === true);
    const isOver = process.hrtime.bigint() >= this.#endsAtNs;
    const holding = isOver ? new Set<string>() : ancestorPaths([...this.#ending, ...workloads]);
    const waiting = workloads.filter((member) => unsure.includes(member) || holding.has(member.workload.path));
    for (const member of workloads.filter((one) => !waiting.includes(one))) {
      this.#ending = [...this.#ending, this.#signal(this.#withGracePeriod(member), candidates, turn)];
    }
    this.#awaited = new Set(waiting.map(({ workload }) => workload.id));
    this.#signalsAtNs = unsure.length > 0 ? awaitedLookNs(process.hrtime.bigint(), this.#groupBeganNs) : this.#endsAtNs;
  }

  #noteExit(candidates: Candidates): void {
    const isKnown = (id: string): boolean => this.#signalled.has(id) || this.#gone.has(id);
    for (const gone of endedBeforeSignal(this.#planned.slice(0, this.#group + 1), candidates, this.#parts.evictor, isKnown)) {
      this.#gone.add(gone.workload.id);
      this.#haveEnded([{ ...gone, serial: this.#signalled.size + this.#gone.size }]);
    }
  }

  /** A workload that waited has the rest of its group's time, in whole milliseconds. */
  #withGracePeriod(member: ShutdownWorkload): ShutdownWorkload {
    const gracePeriodNs = minGraceNs(member.gracePeriodNs);
    if (!this.#awaited) return { ...member, gracePeriodNs };
    const leftMs = (this.#endsAtNs - process.hrtime.bigint()) / 1_000_000n;
    return { ...member, gracePeriodNs: minBigInt(gracePeriodNs, leftMs > 0n ? leftMs * 1_000_000n : 0n) };
  }

  /** Always SIGTERM first: a unit has to be stopped by systemd, which would start it again otherwise. */
  #signal({ workload, gracePeriodNs }: ShutdownWorkload, candidates: Candidates, turn: ShutdownGroupStart): EndingWorkload {
    const nowNs = process.hrtime.bigint();
    const serial = this.#signalled.size + this.#gone.size + 1;
    const killsAtNs = killTimeNs(nowNs, gracePeriodNs, { gracePeriodNs: this.#graceNs, endsAtNs: this.#endsAtNs });
    const ending: Pick<Decision, 'serial' | 'graceNs' | 'decidedAtNs'> = {
      serial,
      graceNs: killsAtNs > nowNs ? killsAtNs - nowNs : 1n,
      decidedAtNs: nowNs,
    };
    const queuesNs = queueTimeNs(nowNs, killsAtNs, this.#endsAtNs);
    const unit = workload.unit && { evictions: 0, stop: candidates.stop?.(workload, { shutdown: turn }), hold: undefined, queuesNs };
    this.#victims.begin({ ...ending, ...(unit && { unit }), victim: { workload: unprotected(workload) } }, { atNs: nowNs });
    this.#signalled.add(workload.id);
    return { serial, workload, group: this.#group, requestedAtNs: nowNs, gracePeriodNs, killsAtNs, killedAtNs: undefined };
  }

  get #graceNs(): bigint {
    return this.#periods[this.#group]?.gracePeriodNs ?? 0n;
  }

  get #endsAtNs(): bigint {
    return this.#groupBeganNs + this.#graceNs;
  }

  #look(): void {
    const readings = this.#victims.readings();
    const nowNs = process.hrtime.bigint();
    const group = { index: this.#group, isLast: this.#group === this.#periods.length - 1, endsAtNs: this.#endsAtNs };
    const { ending, ended, kill, isOver, dueAtNs } = advanceShutdown(this.#ending, readings, group, this.#parts.isEvicted, nowNs);
    this.#ending = ending;
    for (const one of kill) this.#victims.escalate(one);
    this.#haveEnded(ended);
    const isAwaited = this.#awaited?.size !== 0;
    if (isOver && !isAwaited) {
      this.#nextGroup();
      return;
    }
    const times = [
      ...(isOver ? [] : [dueAtNs]),
      ...(isAwaited ? [this.#signalsAtNs] : []),
      ...(ending.length > 0 ? [victimLookNs(nowNs, this.#victims.lastSignalNs ?? nowNs, process.hrtime.bigint() - nowNs)] : []),
    ];
    this.#scheduleAt(times.reduce(minBigInt));
  }

  #haveEnded(all: readonly EndedWorkload[]): void {
    // A workload that contains one of them may be signalled now.
    if (all.length > 0) this.#signalsAtNs = 0n;
    this.#ended.push(...all);
    for (const { serial } of all) this.#victims.end(serial);
    for (const ended of all) {
      const group = this.#periods[ended.group];
      if (group !== undefined) this.#events.ended(ended, group);
    }
  }

  #finish(): void {
    const readings = this.#victims.readings();
    const nowNs = process.hrtime.bigint();
    const left = this.#ending.map((one) => notAwaited(one, readings.get(one.serial), nowNs));
    this.#ending = [];
    this.#haveEnded(left);
    const late = this.#late();
    this.stop();
    this.#events.over(this.course, late);
  }

  /** Workloads that started too late to be signalled, for the record only: an error here is ignored. */
  #late(): readonly Workload[] {
    try {
      const candidates = this.#parts.workloads.candidates();
      this.#noteExit(candidates);
      return workloadsAtShutdown(candidates).ended.filter(({ id }) => !this.#signalled.has(id));
    } catch {
      return [];
    }
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
