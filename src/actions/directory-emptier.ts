import type { Decision, SystemdAnswer } from '../core/eviction.js';
import type { DirectoryToEmpty, Emptied } from '../core/workload-directory.js';
import type { Workload } from '../core/workload.js';
import type { DirectoryEmptier, UnitManager } from '../monitor/ports.js';
import type { Binding } from '../native/binding.js';
import { answered } from '../native/answered.js';

/** A directory that takes longer stays as far as it is. */
const WITHIN_MS = 600_000;
/** What hangs in its filesystem does not even notice that its time is over. */
const NO_ANSWER_MS = WITHIN_MS + 30_000;
/** systemd says within milliseconds that a unit has stopped; on a node that thrashes within seconds. Who does not wait evicts the next one in vain. */
const STOPPED_WITHIN_NS = 30_000_000_000n;
/** Where systemd has not said that it stops a unit that restarts by itself, it has to be seen stopped for so long: some are for a moment before they restart. */
const STOPPED_FOR_NS = 3_000_000_000n;
/** That systemd has not answered says nothing of a unit, however long ago it was asked. */
const EVER_NS = 1n << 62n;

/** What became of a directory; undefined: it is begun. */
export type OnEmptying = (decision: Decision, directory: DirectoryToEmpty, emptied: Emptied | string | undefined) => void;

export interface EmptierParts {
  readonly native: Pick<Binding, 'DirectoryEmptying'>;
  readonly units: Pick<UnitManager, 'reach' | 'unit' | 'awaited'>;
  /** Directories of the workload's cgroup, in each hierarchy in which somebody could live in it. */
  readonly cgroupsOf: (workload: Workload) => readonly string[];
  /** Why a directory is left alone as things are now; undefined: it may be emptied. */
  readonly objection: (directory: DirectoryToEmpty, owner: Workload) => string | undefined;
  readonly onEmptying: OnEmptying;
  /** It went wrong, and what becomes of its directories nobody knows. Never throws. */
  readonly onError: (decision: Decision, error: unknown) => void;
}

interface Emptying {
  readonly beganNs: bigint;
  /** What is being emptied now. */
  current: { readonly directory: DirectoryToEmpty; readonly givingUp: AbortController } | undefined;
  stoppedSinceNs: bigint | undefined;
  phase: 'waiting' | 'running' | 'over';
}

/**
 * Empties the directories of who was evicted, one after the other, when nobody of it is left and systemd does not start it again. What is against it ends it, at any
 * time.
 */
export class OwnDirectoryEmptier implements DirectoryEmptier {
  readonly #parts: EmptierParts;
  readonly #emptyings = new Map<number, Emptying>();
  #closed = false;

  constructor(parts: EmptierParts) {
    this.#parts = parts;
  }

  empty(decision: Decision, systemd: SystemdAnswer | undefined): boolean {
    const nowNs = process.hrtime.bigint();
    const { serial } = decision;
    const emptying = this.#emptyings.get(serial) ?? { beganNs: nowNs, current: undefined, stoppedSinceNs: undefined, phase: 'waiting' };
    this.#emptyings.set(serial, emptying);
    if (emptying.phase === 'waiting') this.#proceed(decision, emptying, systemd, nowNs);
    else if (emptying.current !== undefined) {
      const { directory, givingUp } = emptying.current;
      const why = this.#objectionTo(directory, decision);
      if (why !== undefined) givingUp.abort(`${why}; it was stopped in the middle`);
    }
    return emptying.phase !== 'over';
  }

  close(): void {
    this.#closed = true;
    for (const { current } of this.#emptyings.values()) current?.givingUp.abort('evictd ends');
  }

  #proceed(decision: Decision, emptying: Emptying, systemd: SystemdAnswer | undefined, nowNs: bigint): void {
    const staysStopped = this.#staysStopped(decision, emptying, systemd, nowNs);
    if (!staysStopped && nowNs - emptying.beganNs < STOPPED_WITHIN_NS) return;
    emptying.phase = 'running';
    void this.#run(decision, emptying, staysStopped ? undefined : 'systemd does not say that it stays stopped')
      .catch((error: unknown) => {
        this.#parts.onError(decision, error);
      })
      .finally(() => {
        emptying.phase = 'over';
      });
  }

  /** A cgroup that is no unit has nobody who is known to start it again. */
  #staysStopped({ victim, unit: decided }: Decision, emptying: Emptying, systemd: SystemdAnswer | undefined, nowNs: bigint): boolean {
    const { unit } = victim.workload;
    if (unit === undefined) return true;
    const { units } = this.#parts;
    const loaded = units.unit(unit.name);
    const isStopped =
      units.reach() &&
      (loaded === undefined // a transient one is forgotten when it has ended
        ? !units.awaited(unit.name, EVER_NS, emptying.beganNs)
        : !loaded.stale && (loaded.activeState === 'inactive' || loaded.activeState === 'failed'));
    if (!isStopped) {
      emptying.stoppedSinceNs = undefined;
      return false;
    }
    emptying.stoppedSinceNs ??= nowNs;
    const isAnswered = decided?.hold === undefined || systemd?.units.includes(unit.name) === true;
    return isAnswered || nowNs - emptying.stoppedSinceNs >= STOPPED_FOR_NS;
  }

  async #run(decision: Decision, emptying: Emptying, leftAlone: string | undefined): Promise<void> {
    const { native, cgroupsOf, onEmptying } = this.#parts;
    for (const directory of directoriesOf(decision)) {
      const why = leftAlone ?? this.#objectionTo(directory, decision);
      if (why !== undefined) {
        onEmptying(decision, directory, why);
        continue;
      }
      onEmptying(decision, directory, undefined);
      const { path, device, inode } = directory;
      const order = { path, device, inode, cgroups: cgroupsOf(decision.victim.workload), withinMs: WITHIN_MS };
      const givingUp = new AbortController();
      emptying.current = { directory, givingUp };
      const emptied = await answered<Emptied>(NO_ANSWER_MS, (onDone) => new native.DirectoryEmptying(order, onDone), givingUp.signal);
      emptying.current = undefined;
      if (this.#closed) return;
      onEmptying(decision, directory, emptied);
    }
  }

  #objectionTo(directory: DirectoryToEmpty, { victim }: Decision): string | undefined {
    try {
      return this.#parts.objection(directory, victim.workload);
    } catch (error) {
      return `whether it still may be cannot be told: ${String(error)}`;
    }
  }
}

function directoriesOf({ victim: { holding } }: Decision): readonly DirectoryToEmpty[] {
  return holding?.empties ?? [];
}
