import type { SystemdAnswer, UnitDecision } from '../../core/decide/eviction.js';
import type { LoadedUnit } from '../../core/systemd/loaded-unit.js';
import type { Hold } from '../../core/systemd/unit-hold.js';
import type { UnitStop } from '../../core/systemd/unit-stop.js';
import type { Workload } from '../../core/workload/workload.js';
import type { Evictor, KillInProgress, SignalResult, UnitJob, UnitManager, VictimSample } from '../../monitor/ports/ports.js';
import { DelegatedKill } from '../delegated-kill.js';

/**
 * A stop job that waits for other jobs has sent no signal. In the last quarter of the grace period evictd sends SIGTERM
 * itself, so that SIGKILL is not the first signal.
 */
const queuesOf = (graceNs: bigint): bigint => (graceNs * 3n) / 4n;

/** systemd answers within milliseconds what depends on a unit. After this time a killed unit restarts as it is configured. */
const SURE_WITHIN_NS = 250_000_000n;

/** The same type as in workloads/systemd/unit-stops.ts. */
type FinalUnitStop = (
  workload: Workload,
) => UnitStop | { readonly kind: 'protected-dependant' | 'emergency-action' } | 'awaited' | undefined;

/** Called if systemd does not stop a unit that should stay stopped, even long after the eviction. */
type OnNotStopped = (hold: Hold, errors: readonly string[]) => void;

/**
 * Evicts units through systemd if the decision says so. Everything else, and units that systemd does not stop,
 * `cgroups` evicts.
 */
export function openUnitEvictor(cgroups: Evictor, units: UnitManager, sureStop: FinalUnitStop, onNotStopped: OnNotStopped): Evictor {
  return {
    begin: (workload, unit, graceNs = 0n, isKilled) => {
      const kill = cgroups.begin(workload, unit, graceNs, isKilled);
      const jobs = unit && jobsOf(workload, unit);
      if (unit?.stop === undefined || jobs === undefined) return kill;
      const { stop, hold, queuesNs = queuesOf(graceNs) } = unit;
      return new UnitKill({ kill, units, jobs, hold, graceNs, queuesNs, onNotStopped, stop, sureStop: () => sureStop(workload) });
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
  /** What was decided. */
  readonly stop: UnitStop;
  readonly sureStop: () => ReturnType<FinalUnitStop>;
}

class UnitKill extends DelegatedKill {
  /** The last job's. */
  readonly #unit: string;
  #answer: (() => SystemdAnswer | undefined) | undefined;
  #requestedAtNs: bigint | undefined;
  #resumed = false;
  /** The time since which evictd asks for the dependants of the unit. */
  #unsureSinceNs: bigint | undefined;

  constructor(private readonly parts: UnitKillParts) {
    super(parts.kill, parts.graceNs);
    this.#unit = parts.jobs.at(-1)?.unit ?? '';
  }

  /** The stop request follows SIGKILL, before systemd restarts the unit. */
  override kill(): SignalResult {
    const killed = super.kill();
    if (this.parts.hold && killed.error === undefined && this.#unsureSinceNs === undefined) this.#askWhenSure(this.parts.hold);
    return killed;
  }

  /**
   * The unit was killed on what was known. systemd is asked to stop it only when it is sure that this stops nothing else
   * than was decided: at once if no unit loaded since can depend on it, otherwise after its answer, for which no signal waits.
   */
  #askWhenSure(hold: Hold): void {
    if (this.#requestedAtNs !== undefined) return;
    const { units, stop, sureStop, onNotStopped } = this.parts;
    const sure = sureStop();
    const nowNs = process.hrtime.bigint();
    if (sure === 'awaited' && nowNs - (this.#unsureSinceNs ?? nowNs) < SURE_WITHIN_NS) {
      this.#unsureSinceNs ??= nowNs;
      units.lookAgain(() => {
        this.#askWhenSure(hold);
      });
    } else if (sure !== 'awaited' && stopsNothingElse(sure, stop)) {
      this.#unsureSinceNs = undefined;
      this.ask();
    } else {
      this.#unsureSinceNs ??= nowNs;
      onNotStopped(hold, [
        sure === 'awaited' ? 'systemd did not report in time which units depend on it' : 'what depends on it has changed meanwhile',
      ]);
    }
  }

  resume(isKilled: boolean): void {
    if (isKilled) this.isTakenOver = true;
    else this.#resumed = true;
  }

  read(): VictimSample {
    const left = this.cgroup.read();
    if (left.processes === 0) return this.#isStopping() ? { ...left, stopping: true } : left;
    if (this.isTakenOver) return left;
    const isQueued = this.#isQueued();
    if (!(this.#isRefused() || this.#isLeftOver() || (isQueued && this.#hasBeenRequested(this.parts.queuesNs)))) {
      return isQueued ? { ...left, queued: true } : left;
    }
    this.signal();
    return this.cgroup.read();
  }

  systemd(): SystemdAnswer | undefined {
    return this.#answer?.();
  }

  /**
   * systemd runs ExecStop=, sends KillSignal= and does not restart the unit. Asked at most once. Without a connection
   * the state is unknown: a previous evictd may have asked.
   */
  protected ask(): boolean {
    if (this.#requestedAtNs === undefined) {
      const { units: manager, jobs, hold, onNotStopped } = this.parts;
      const name = this.#unit;
      this.#answer = manager.request(jobs, ({ units, errors, lost }) => {
        if (hold && lost !== true && !units.includes(name)) onNotStopped(hold, errors);
      });
      if (this.#answer !== undefined) this.#requestedAtNs = process.hrtime.bigint();
    }
    return this.#requestedAtNs !== undefined;
  }

  /** A failed stop of a trigger does not count. */
  #isRefused(): boolean {
    if (this.#requestedAtNs === undefined) return false;
    const answer = this.#answer?.();
    if (answer === undefined) return this.#hasBeenRequested(this.answeredWithinNs);
    return !answer.units.includes(this.#unit);
  }

  /** systemd has finished, and processes remain that it does not signal (as with KillMode=process). */
  #isLeftOver(): boolean {
    if (!this.#resumed && this.#answer?.() === undefined) return false;
    const unit = this.parts.units.unit(this.#unit);
    if (unit === undefined) return !this.parts.units.awaited(this.#unit); // systemd forgets a transient unit when it ends
    return hasStopped(unit);
  }

  /** The job is queued and the unit still runs. A stale state does not count. */
  #isQueued(): boolean {
    if (this.#answer?.()?.units.includes(this.#unit) !== true) return false;
    const unit = this.parts.units.unit(this.#unit);
    return unit !== undefined && !unit.stale && !hasStopped(unit) && unit.activeState !== 'deactivating';
  }

  #hasBeenRequested(ns: bigint): boolean {
    return this.#requestedAtNs !== undefined && process.hrtime.bigint() - this.#requestedAtNs >= ns;
  }

  /** systemd is between two processes of the unit: ExecStopPost= or the next ExecStop= follows. */
  #isStopping(): boolean {
    if (this.#requestedAtNs === undefined || this.#isRefused()) return false;
    const unit = this.parts.units.unit(this.#unit);
    return unit !== undefined && !hasStopped(unit);
  }
}

function stopsNothingElse(sure: Exclude<ReturnType<FinalUnitStop>, 'awaited'>, decided: UnitStop): boolean {
  if (sure?.kind !== 'stop' || decided.kind !== 'stop') return false;
  const expected = new Set([...decided.dependants, ...decided.triggers, ...decided.timers]);
  return [...sure.dependants, ...sure.triggers, ...sure.timers].every((name) => expected.has(name));
}

/** systemd has finished stopping it. */
function hasStopped({ stale, activeState }: LoadedUnit): boolean {
  return !stale && (activeState === 'inactive' || activeState === 'failed');
}
