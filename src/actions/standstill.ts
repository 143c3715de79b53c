import { constants } from 'node:os';
import type { CgroupHandle } from '../native/binding.js';

/** Rounds of SIGSTOP in one call: each leaves fewer who can fork. */
const STOP_ROUNDS = 8;
/** The monitor's loop waits for as long as this for the freezer. What is not frozen by then is signalled all the same. */
const FREEZE_MS = 5;

export interface StandstillParts {
  readonly handle: CgroupHandle;
  /** A cgroup of the unified hierarchy beside this one (hybrid), or of the v1 freezer: opened anew, of the victim's processes alone; undefined: there is none. */
  readonly openShared: (hierarchy: 'unified' | 'freezer') => CgroupHandle | undefined;
  /** The highest cgroups of the v1 freezer that hold nobody but the victim's processes, opened anew. */
  readonly openFreezers: () => readonly CgroupHandle[];
}

/** A victim that is held still while it is signalled, so that nobody is forked meanwhile; and what is owed to it then: to be thawed, or continued. Nothing throws. */
export class Standstill {
  readonly #parts: StandstillParts;
  /** Frozen here and not thawed yet. */
  #frozen: readonly CgroupHandle[] = [];
  #isStopped = false;

  constructor(parts: StandstillParts) {
    this.#parts = parts;
  }

  /** By cgroup.kill of a cgroup that they share in the unified hierarchy, frozen in one of the v1 freezer, or stopped; and thawed, or the killed would stay. */
  during<T>(signal: () => T): T {
    const unified = this.#shared('unified');
    const freezer = this.#shared('freezer');
    try {
      const isKilled = unified !== undefined && killsAtOnce(unified);
      if (!isKilled && !this.#freezes(freezer) && !this.#freezes(unified)) this.#stop();
      return signal();
    } finally {
      this.thaw();
      // Even what was not frozen here: somebody else may have.
      for (const cgroup of [freezer, unified]) {
        if (cgroup === undefined || this.#frozen.includes(cgroup)) continue;
        attempt(() => {
          cgroup.thaw();
        });
        cgroup.close();
      }
    }
  }

  /** What was frozen here, as far as that is still to be done. */
  thaw(): void {
    this.#frozen = this.#frozen.filter((cgroup) => {
      const isThawed = attempt(() => (cgroup.thaw(), true)) === true;
      if (isThawed) cgroup.close();
      return !isThawed;
    });
  }

  /** What somebody else froze, wherever it was done, unless others would be thawed with it. */
  thawParts(): void {
    for (const cgroup of attempt(() => this.#parts.openFreezers()) ?? []) {
      attempt(() => {
        cgroup.thaw();
      });
      cgroup.close();
    }
  }

  /** Whoever is left lives on: nobody stays frozen or stopped. Once, before the handle is closed. */
  end(): void {
    this.thaw();
    for (const cgroup of this.#frozen) cgroup.close();
    this.#frozen = [];
    if (this.#isStopped) attempt(() => this.#parts.handle.signal(constants.signals.SIGCONT));
    this.#isStopped = false;
  }

  #shared(hierarchy: 'unified' | 'freezer'): CgroupHandle | undefined {
    return attempt(() => this.#parts.openShared(hierarchy));
  }

  #freezes(cgroup: CgroupHandle | undefined): boolean {
    if (cgroup === undefined || attempt(() => (cgroup.freeze(FREEZE_MS), true)) === undefined) return false;
    this.#frozen = [...this.#frozen, cgroup];
    return true;
  }

  #stop(): void {
    this.#isStopped = true;
    attempt(() => this.#parts.handle.stop(STOP_ROUNDS));
  }
}

/** cgroup.kill. */
export function killsAtOnce(cgroup: CgroupHandle): boolean {
  return attempt(() => (cgroup.kill(), true)) ?? false;
}

/** undefined: it failed. What can be done by other means is; that it worked is seen in the next reading. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
