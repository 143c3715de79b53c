import type { ShutdownGracePeriod } from '../../core/workload/shutdown-config.js';
import { isInTime } from './shutdown-progress.js';
import type { Log } from '../../log/log.js';
import type { Journal } from '../../journal/journal.js';
import type { StepListener, StepReport } from '../../monitor/ports/ports.js';
import type { JournalRecord } from '../../journal/records/record.js';
import {
  type ShutdownRunParts,
  shutdownBegun,
  shutdownAborted,
  shutdownOver,
  workloadEnded,
  type ShutdownCourse,
} from './shutdown-record.js';
import { ShutdownRun } from './shutdown-run.js';
import { messageOf } from '../../errors.js';

export interface ShutdownParts extends Pick<ShutdownRunParts, 'workloads' | 'evictor'> {
  readonly journal: Pick<Journal, 'record'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly dryRun: boolean;
  readonly release: () => void;
  /** The shutdown begins, before the first signal; or it is cancelled. */
  readonly changed: (lasts: boolean) => void;
  /** All groups are over, or the shutdown was cancelled. */
  readonly over: () => void;
}

const FAILED = { code: 'EVICTD_SHUTDOWN_FAILED' } as const;

/** The shutdown of the machine: ends the workloads group by group, and then lets the machine go down. */
export class Shutdown implements Pick<StepListener, 'stepped'> {
  #run: ShutdownRun | undefined;
  /** The course of a shutdown whose groups are over while the machine still shuts down. */
  #course: ShutdownCourse | undefined;
  /** Ids of workloads with an eviction in flight; during a shutdown also those evicted since it began. */
  #evicted: ReadonlySet<string> = new Set();
  #lasts = false;

  constructor(private readonly parts: ShutdownParts) {}

  /** Whether a shutdown has begun and was not cancelled. */
  get lasts(): boolean {
    return this.#lasts;
  }

  /**
   * The machine begins to go down. A second call changes nothing.
   *
   * @param periods  the lowest priority first
   */
  begin(periods: readonly ShutdownGracePeriod[]): void {
    const { workloads, evictor, dryRun, changed } = this.parts;
    if (this.#lasts) {
      if (this.#run === undefined) this.parts.release();
      return;
    }
    this.#lasts = true;
    try {
      changed(true);
    } catch (error) {
      this.parts.log.warn(`cannot publish that the machine is shutting down: ${messageOf(error)}`, FAILED);
    }
    const run = new ShutdownRun({ workloads, evictor, isEvicted: (id) => this.#evicted.has(id) }, periods, {
      planned: (plan) => {
        // First of all: a dry run sends no signal, whatever is thrown here.
        if (dryRun) run.stop();
        this.#say(shutdownBegun(plan), false);
        if (dryRun) this.#end(run.course, () => undefined);
      },
      ended: (ended, { priority }) => {
        this.#say(workloadEnded(ended, priority), isInTime(ended));
      },
      over: (course, late) => {
        this.#end(course, () => {
          this.#say(shutdownOver(course, late), late.length === 0 && course.ended.every(isInTime));
        });
      },
      retrying: (reason) => {
        this.parts.log.warn(`cannot continue the shutdown, trying again: ${reason}`, FAILED);
      },
      failed: (course, error) => {
        this.#end(course, () => {
          this.#say(shutdownAborted({ phase: 'failed', error }, course), false, FAILED);
        });
      },
    });
    this.#run = run;
    run.begin();
  }

  callOff(): void {
    if (!this.#lasts) return;
    const course = this.#broken();
    this.#course = undefined;
    this.#lasts = false;
    try {
      if (course) this.#say(shutdownAborted({ phase: 'called-off' }, course), false);
    } finally {
      this.parts.over();
      this.parts.changed(false);
    }
  }

  /** evictd ends: the remaining workloads are left to the service manager. */
  stop(): void {
    if (this.#run === undefined) return;
    const course = this.#broken();
    if (course) this.#say(shutdownAborted({ phase: 'interrupted' }, course), false);
  }

  stepped({ state }: Pick<StepReport, 'state'>): void {
    const { evictions } = state;
    if (evictions.length === 0 && (this.#lasts || this.#evicted.size === 0)) return;
    const now = evictions.flatMap(({ decision: { victim } }) => (victim.process === undefined ? victim.workload.id : []));
    this.#evicted = new Set(this.#lasts ? [...this.#evicted, ...now] : now);
  }

  #broken(): ShutdownCourse | undefined {
    const course = this.#run?.course ?? this.#course;
    this.#run?.stop();
    this.#run = undefined;
    return course;
  }

  /** Lets the machine go down, even if `say` throws. */
  #end(course: ShutdownCourse, say: () => void): void {
    this.#run = undefined;
    this.#course = course;
    try {
      say();
    } finally {
      this.parts.over();
      this.parts.release();
    }
  }

  #say(record: JournalRecord, isFine: boolean, fields?: typeof FAILED): void {
    this.parts.journal.record(record);
    this.parts.log[isFine ? 'info' : 'warn'](record.message, fields);
  }
}
