import type { ShutdownGracePeriod } from '../core/shutdown-config.js';
import { isInTime } from '../core/shutdown-progress.js';
import type { Log } from '../log.js';
import type { Journal } from './journal.js';
import type { StepListener, StepReport } from './ports.js';
import type { JournalRecord } from './record.js';
import { ShutdownRun, type ShutdownRunParts } from './shutdown-run.js';
import { shutdownBegins, shutdownBroken, shutdownOver, workloadEnded, type ShutdownCourse } from './shutdown-record.js';

export interface ShutdownParts extends Pick<ShutdownRunParts, 'workloads' | 'evictor'> {
  readonly journal: Pick<Journal, 'record'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly dryRun: boolean;
  /** Lets the machine go down. */
  readonly release: () => void;
  /** The machine begins to go down, before anybody is told to end; or it does not any more. */
  readonly changed: (lasts: boolean) => void;
  /** Nobody is waited for any more, or the shutdown was called off. */
  readonly over: () => void;
}

/** What evictd does while the machine goes down: the workloads end group by group, and then it may. */
export class Shutdown implements StepListener {
  readonly #parts: ShutdownParts;
  #run: ShutdownRun | undefined;
  /** Of a shutdown that is over while the machine still goes down. */
  #course: ShutdownCourse | undefined;
  /** By workload id: evictions in flight, and while a shutdown lasts all since then. */
  #evicted: ReadonlySet<string> = new Set();
  #lasts = false;

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
  }

  /** From the moment that the machine begins to go down until it does not any more. */
  get lasts(): boolean {
    return this.#lasts;
  }

  /**
   * The machine begins to go down. Called again while it does it changes nothing: who was told stays told.
   *
   * @param periods  the lowest priority first
   */
  begin(periods: readonly ShutdownGracePeriod[]): void {
    const { workloads, evictor, dryRun, changed } = this.#parts;
    if (this.#lasts) {
      if (this.#run === undefined) this.#parts.release();
      return;
    }
    this.#lasts = true;
    changed(true);
    const run = new ShutdownRun({ workloads, evictor, isEvicted: (id) => this.#evicted.has(id) }, periods, {
      ended: (ended, { priority }) => {
        this.#say(workloadEnded(ended, priority), isInTime(ended));
      },
      over: (course, late) => {
        this.#run = undefined;
        this.#course = course;
        const isFine = late.length === 0 && course.ended.every(isInTime);
        this.#say(shutdownOver(course, late), isFine);
        this.#release();
      },
    });
    this.#say(shutdownBegins(run.plan()), false);
    if (dryRun) {
      run.stop();
      this.#course = run.course;
      this.#release();
      return;
    }
    this.#run = run;
    run.begin();
  }

  /** The machine does not go down any more. */
  callOff(): void {
    if (!this.#lasts) return;
    const course = this.#broken();
    if (course) this.#say(shutdownBroken('called-off', course), false);
    this.#course = undefined;
    this.#lasts = false;
    this.#parts.over();
    this.#parts.changed(false);
  }

  /** evictd ends: whoever is left is left to whoever takes the machine down. */
  stop(): void {
    if (this.#run === undefined) return;
    const course = this.#broken();
    if (course) this.#say(shutdownBroken('interrupted', course), false);
  }

  stepped({ state }: Pick<StepReport, 'state'>): void {
    const { evictions } = state;
    if (evictions.length === 0 && (this.#lasts || this.#evicted.size === 0)) return;
    const now = evictions.map(({ decision }) => decision.victim.workload.id);
    this.#evicted = new Set(this.#lasts ? [...this.#evicted, ...now] : now);
  }

  close(): void {
    this.stop();
  }

  #broken(): ShutdownCourse | undefined {
    const course = this.#run?.course ?? this.#course;
    this.#run?.stop();
    this.#run = undefined;
    return course;
  }

  #release(): void {
    this.#parts.over();
    this.#parts.release();
  }

  #say(record: JournalRecord, isFine: boolean): void {
    this.#parts.journal.record(record);
    this.#parts.log[isFine ? 'info' : 'warn'](record.message);
  }
}
