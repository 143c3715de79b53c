import type { SystemdAnswer, UnitDecision } from '../core/eviction.js';
import type { LoadedUnit } from '../core/loaded-unit.js';
import type { Hold } from '../core/hold.js';
import type { Workload } from '../core/workload.js';
import type { Evictor, KillInProgress, SignalResult, UnitJob, UnitManager, VictimSample } from '../monitor/ports.js';

/**
 * systemd answers in milliseconds. If it has not within this time or this part of the grace, whichever is longer, it is in trouble itself, and the unit gets its
 * SIGTERM from evictd: too early that would reach an ExecStop= that has only just been started.
 */
const ANSWERED_WITHIN_NS = 1_000_000_000n;
const PART_OF_GRACE = 10n;

/** Who waits at systemd for others to stop has been told nothing: in the last quarter of its time it is, by evictd, and is not killed without having been asked. */
const queuesNs = (graceNs: bigint): bigint => (graceNs * 3n) / 4n;

/** systemd does not stop a unit that was to be kept stopped: told also when its eviction has long been over. */
type OnNotStopped = (hold: Hold, errors: readonly string[]) => void;

/** Evicts systemd units by way of systemd where that was decided, and everything else, and where systemd does not, as `cgroups` does. */
export function openUnitEvictor(cgroups: Evictor, units: UnitManager, onNotStopped: OnNotStopped): Evictor {
  return {
    begin: (workload, unit, graceNs = 0n) => {
      const kill = cgroups.begin(workload);
      const jobs = unit && jobsOf(workload, unit);
      return jobs === undefined
        ? kill
        : new UnitKill({ kill, units, jobs, hold: unit?.hold, graceNs, queuesNs: unit?.queuesNs ?? queuesNs(graceNs), onNotStopped });
    },
  };
}

/** What would start it again first, so that it does not come back in between; undefined: systemd is not asked. */
function jobsOf({ unit }: Workload, { stop, hold }: UnitDecision): readonly UnitJob[] | undefined {
  if (unit?.manager !== 'system' || stop?.kind !== 'stop') return undefined;
  return [...stop.triggers, ...(hold ? stop.timers : []), unit.name].map((name) => ({ type: 'stop', unit: name }));
}

interface UnitKillParts {
  readonly kill: KillInProgress;
  readonly units: UnitManager;
  readonly jobs: readonly UnitJob[];
  readonly hold: Hold | undefined;
  readonly graceNs: bigint;
  readonly queuesNs: bigint;
  readonly onNotStopped: OnNotStopped;
}

/** The end of a unit: systemd is asked, its processes are looked at, and killed, as those of any cgroup. */
class UnitKill implements KillInProgress {
  readonly #cgroup: KillInProgress;
  readonly #units: UnitManager;
  readonly #jobs: readonly UnitJob[];
  /** The last of them. */
  readonly #unit: string;
  readonly #hold: Hold | undefined;
  readonly #onNotStopped: OnNotStopped;
  readonly #answeredWithinNs: bigint;
  readonly #queuesNs: bigint;
  #answer: (() => SystemdAnswer | undefined) | undefined;
  #askedAtNs: bigint | undefined;
  /** Nobody but evictd ends it from here on. */
  #signalled = false;
  #resumed = false;

  constructor({ kill, units, jobs, hold, graceNs, queuesNs, onNotStopped }: UnitKillParts) {
    this.#cgroup = kill;
    this.#units = units;
    this.#jobs = jobs;
    const partNs = graceNs / PART_OF_GRACE;
    this.#answeredWithinNs = partNs > ANSWERED_WITHIN_NS ? partNs : ANSWERED_WITHIN_NS;
    this.#queuesNs = queuesNs;
    this.#unit = jobs.at(-1)?.unit ?? '';
    this.#hold = hold;
    this.#onNotStopped = onNotStopped;
  }

  /** systemd runs ExecStop=, sends what KillSignal= says, and does not start it again. */
  terminate(): SignalResult {
    if (this.#signalled || !this.#ask()) return this.#signal();
    return { atNs: process.hrtime.bigint(), processes: this.#cgroup.read().processes, error: undefined };
  }

  /** The processes first: systemd may take its time. What is kept stopped is told to systemd right after, before it has started it again, or the new one ends. */
  kill(): SignalResult {
    this.#signalled = true;
    const killed = this.#cgroup.kill();
    if (this.#hold && killed.error === undefined) this.#ask();
    return killed;
  }

  resume(isKilled: boolean): void {
    if (isKilled) this.#signalled = true;
    else this.#resumed = true;
  }

  read(): VictimSample {
    const left = this.#cgroup.read();
    if (left.processes === 0) return this.#isStopping() ? { ...left, stopping: true } : left;
    if (this.#signalled) return left;
    const isQueued = this.#isQueued();
    if (!(this.#isRefused() || this.#isLeftOver() || (isQueued && this.#hasBeenAskedFor(this.#queuesNs)))) {
      return isQueued ? { ...left, queued: true } : left;
    }
    this.#signal();
    return this.#cgroup.read();
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#cgroup.onExit(callback);
  }

  systemd(): SystemdAnswer | undefined {
    return this.#answer?.();
  }

  close(): void {
    this.#cgroup.close();
  }

  /** Once: an answer to come is not asked for again. That there is no connection says nothing of the unit: an evictd before may have had it stopped. */
  #ask(): boolean {
    if (this.#askedAtNs === undefined) {
      const [hold, onNotStopped, name] = [this.#hold, this.#onNotStopped, this.#unit];
      this.#answer = this.#units.request(this.#jobs, ({ units, errors, lost }) => {
        if (hold && lost !== true && !units.includes(name)) onNotStopped(hold, errors);
      });
      if (this.#answer !== undefined) this.#askedAtNs = process.hrtime.bigint();
    }
    return this.#askedAtNs !== undefined;
  }

  #signal(): SignalResult {
    const sent = this.#cgroup.terminate();
    this.#signalled = sent.passing !== 'unsent';
    return sent;
  }

  /** That what triggers it cannot be stopped is no reason not to stop it. */
  #isRefused(): boolean {
    if (this.#askedAtNs === undefined) return false;
    const answer = this.#answer?.();
    if (answer === undefined) return this.#hasBeenAskedFor(this.#answeredWithinNs);
    return !answer.units.includes(this.#unit);
  }

  /** systemd is through with the unit, and whoever is left in its cgroup (KillMode=process, say) has not been told to end: nobody else is going to. */
  #isLeftOver(): boolean {
    if (!this.#resumed && this.#answer?.() === undefined) return false;
    const unit = this.#units.unit(this.#unit);
    if (unit === undefined) return !this.#units.awaited(this.#unit); // a transient one is forgotten when it has ended
    return hasStopped(unit);
  }

  /** It has a job, and runs on. What has changed since it was read may be that. */
  #isQueued(): boolean {
    if (this.#answer?.()?.units.includes(this.#unit) !== true) return false;
    const unit = this.#units.unit(this.#unit);
    return unit !== undefined && !unit.stale && !hasStopped(unit) && unit.activeState !== 'deactivating';
  }

  #hasBeenAskedFor(ns: bigint): boolean {
    return this.#askedAtNs !== undefined && process.hrtime.bigint() - this.#askedAtNs >= ns;
  }

  /** Between two of its processes: ExecStopPost=, or the next line of ExecStop=, is still to come. */
  #isStopping(): boolean {
    if (this.#askedAtNs === undefined || this.#isRefused()) return false;
    const unit = this.#units.unit(this.#unit);
    return unit !== undefined && !hasStopped(unit);
  }
}

/** systemd is through with it. */
function hasStopped({ stale, activeState }: LoadedUnit): boolean {
  return !stale && (activeState === 'inactive' || activeState === 'failed');
}
