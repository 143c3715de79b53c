import { constants } from 'node:os';
import { attempt } from '../../errors.js';
import type { CgroupHandle } from '../../native/binding.js';
import { writeCgroupKill } from './cgroup-kill.js';

/** Rounds of SIGSTOP in one call: each leaves fewer processes that can fork. */
const STOP_ROUNDS = 8;
/** How long the monitor's loop waits for the freezer. Unfrozen processes are signalled anyway. */
const FREEZE_MS = 5;

export interface FreezerParts {
  readonly handle: CgroupHandle;
  /**
   * Opens the victim's cgroup in the unified hierarchy (hybrid) or the v1 freezer, if it holds no other process;
   * undefined: none.
   */
  readonly openShared: (hierarchy: 'unified' | 'freezer') => CgroupHandle | undefined;
  /** Opens the highest cgroups of the v1 freezer that hold only processes of the victim. */
  readonly openFreezers: () => readonly CgroupHandle[];
}

/**
 * Freezes or stops a victim while it is signalled, so that it cannot fork, and undoes that afterwards. Never throws.
 */
export class Freezer {
  /** Frozen here and not thawed yet. */
  #frozen: readonly CgroupHandle[] = [];
  #isStopped = false;

  constructor(private readonly parts: FreezerParts) {}

  /**
   * Uses cgroup.kill in the unified hierarchy, else a freezer, else SIGSTOP. Thaws afterwards: frozen processes would
   * not die.
   *
   * @param signal  `isHeld`: no process of the victim can start another one any more
   */
  whileFrozen<T>(signal: (isHeld: boolean) => T): T {
    const unified = this.#shared('unified');
    const freezer = this.#shared('freezer');
    try {
      const isKilled = unified !== undefined && writeCgroupKill(unified);
      return signal(isKilled || this.#freezes(freezer) || this.#freezes(unified) || this.#stops());
    } finally {
      this.thaw();
      // Another program may have frozen them.
      for (const cgroup of [freezer, unified]) {
        if (cgroup === undefined || this.#frozen.includes(cgroup)) continue;
        attempt(() => {
          cgroup.thaw();
        });
        cgroup.close();
      }
    }
  }

  /** Thaws what was frozen here, and keeps what failed for the next call. */
  thaw(): void {
    this.#frozen = this.#frozen.filter((cgroup) => {
      const isThawed = attempt(() => (cgroup.thaw(), true)) === true;
      if (isThawed) cgroup.close();
      return !isThawed;
    });
  }

  /** Thaws what another program froze, unless that would thaw processes outside the victim. */
  thawOwnCgroups(): void {
    for (const cgroup of attempt(() => this.parts.openFreezers()) ?? []) {
      attempt(() => {
        cgroup.thaw();
      });
      cgroup.close();
    }
  }

  /** Leaves no process frozen or stopped. Called once, before the handle is closed. */
  release(): void {
    this.thaw();
    for (const cgroup of this.#frozen) cgroup.close();
    this.#frozen = [];
    if (this.#isStopped) attempt(() => this.parts.handle.signal(constants.signals.SIGCONT));
    this.#isStopped = false;
  }

  #shared(hierarchy: 'unified' | 'freezer'): CgroupHandle | undefined {
    return attempt(() => this.parts.openShared(hierarchy));
  }

  #freezes(cgroup: CgroupHandle | undefined): boolean {
    if (cgroup === undefined || attempt(() => (cgroup.freeze(FREEZE_MS), true)) === undefined) return false;
    this.#frozen = [...this.#frozen, cgroup];
    return true;
  }

  /** Reports whether all are stopped: the last reading has found no other one. */
  #stops(): boolean {
    this.#isStopped = true;
    return attempt(() => this.parts.handle.stop(STOP_ROUNDS))?.settled === true;
  }
}
