import type { SystemdAnswer, UnitDecision } from '../core/eviction.js';
import type { LoadedUnit } from '../core/loaded-unit.js';
import type { Hold } from '../core/hold.js';
import type { Workload } from '../core/workload.js';
import type { Evictor, KillInProgress, SignalResult, UnitJob, UnitManager, VictimSample } from '../monitor/ports.js';

/**
 * A healthy systemd answers in milliseconds. After this time or this part of the grace period, whichever is longer,
 * evictd sends SIGTERM itself. Earlier, that could hit an ExecStop= that has just started.
 */
const ANSWERED_WITHIN_NS = 1_000_000_000n;
const PART_OF_GRACE = 10n;

/**
 * A stop job that waits for other jobs has sent no signal. In the last quarter of the grace period evictd sends SIGTERM
 * itself, so that SIGKILL is not the first signal.
 */
const queuesNs = (graceNs: bigint): bigint => (graceNs * 3n) / 4n;

/** Called if systemd does not stop a unit that should stay stopped, even long after the eviction. */
type OnNotStopped = (hold: Hold, errors: readonly string[]) => void;

/**
 * Evicts units through systemd if the decision says so. Everything else, and units that systemd does not stop,
 * `cgroups` evicts.
 */
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

/** Stops triggers first, so that they do not start the unit again. undefined: evictd does not ask systemd. */
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

/** Ends a unit: systemd stops it; its processes are observed and killed as those of any cgroup. */
class UnitKill implements KillInProgress {
  readonly #cgroup: KillInProgress;
  readonly #units: UnitManager;
  readonly #jobs: readonly UnitJob[];
  /** The last job's. */
  readonly #unit: string;
  readonly #hold: Hold | undefined;
  readonly #onNotStopped: OnNotStopped;
  readonly #answeredWithinNs: bigint;
  readonly #queuesNs: bigint;
  #answer: (() => SystemdAnswer | undefined) | undefined;
  #askedAtNs: bigint | undefined;
  /** From here on only evictd ends it. */
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

  /** systemd runs ExecStop=, sends KillSignal= and does not restart the unit. */
  terminate(): SignalResult {
    if (this.#signalled || !this.#ask()) return this.#signal();
    return { atNs: process.hrtime.bigint(), processes: this.#cgroup.read().processes, error: undefined };
  }

  /**
   * Kills the processes first: systemd may be slow. The stop request follows at once, before systemd restarts the unit.
   */
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

  /** At most once. Without a connection the state is unknown: a previous evictd may have asked. */
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

  /** A failed stop of a trigger does not count. */
  #isRefused(): boolean {
    if (this.#askedAtNs === undefined) return false;
    const answer = this.#answer?.();
    if (answer === undefined) return this.#hasBeenAskedFor(this.#answeredWithinNs);
    return !answer.units.includes(this.#unit);
  }

  /** systemd has finished, and processes remain that it does not signal (as with KillMode=process). */
  #isLeftOver(): boolean {
    if (!this.#resumed && this.#answer?.() === undefined) return false;
    const unit = this.#units.unit(this.#unit);
    if (unit === undefined) return !this.#units.awaited(this.#unit); // systemd forgets a transient unit when it ends
    return hasStopped(unit);
  }

  /** The job is queued and the unit still runs. A stale state does not count. */
  #isQueued(): boolean {
    if (this.#answer?.()?.units.includes(this.#unit) !== true) return false;
    const unit = this.#units.unit(this.#unit);
    return unit !== undefined && !unit.stale && !hasStopped(unit) && unit.activeState !== 'deactivating';
  }

  #hasBeenAskedFor(ns: bigint): boolean {
    return this.#askedAtNs !== undefined && process.hrtime.bigint() - this.#askedAtNs >= ns;
  }

  /** systemd is between two processes of the unit: ExecStopPost= or the next ExecStop= follows. */
  #isStopping(): boolean {
    if (this.#askedAtNs === undefined || this.#isRefused()) return false;
    const unit = this.#units.unit(this.#unit);
    return unit !== undefined && !hasStopped(unit);
  }
}

/** systemd has finished stopping it. */
function hasStopped({ stale, activeState }: LoadedUnit): boolean {
  return !stale && (activeState === 'inactive' || activeState === 'failed');
}
