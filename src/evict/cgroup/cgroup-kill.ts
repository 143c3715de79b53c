import { constants } from 'node:os';
import { errnoName, errnoText, isShortage, isShortageErrno } from '../../errors.js';
import type { KillInProgress, SignalResult, VictimSample } from '../../monitor/ports/ports.js';
import type { MemoryReaper } from '../../native/binding.js';
import { writeCgroupKill, Freezer, type FreezerParts } from './freezer.js';
import type { VictimExit } from './victim-exit.js';
import type { VictimFiles } from './victim-files.js';

/** A process that outlives SIGKILL this long, while no new one appears, may be frozen. */
const STUCK_NS = 100_000_000n;

export interface CgroupKillParts extends FreezerParts {
  readonly files: VictimFiles;
  readonly exit: VictimExit;
  readonly reaper: MemoryReaper;
}

/**
 * Ends one cgroup. `atNs` of a result is taken after the last signal: durations measured from it err on the long side.
 */
export class CgroupKill implements KillInProgress {
  readonly #parts: CgroupKillParts;
  readonly #freezer: Freezer;
  /** The processes at the last SIGKILL; undefined: none was sent. */
  #killed: ReadonlySet<number> | undefined;
  #triedAllAtNs = 0n;

  constructor(parts: CgroupKillParts) {
    this.#parts = parts;
    this.#freezer = new Freezer(parts);
  }

  /** Sends SIGCONT after SIGTERM, as systemd does: a stopped process could not handle SIGTERM. */
  terminate(): SignalResult {
    const terminated = this.#signal('SIGTERM');
    this.#signal('SIGCONT');
    return terminated;
  }

  /**
   * Writes cgroup.kill, which also ends processes that are being forked. Without it (v1, kernels before 5.14, a
   * read-only mount) signals each process; if new processes appear after that, freezes the cgroup first.
   */
  kill(): SignalResult {
    this.#freezer.thaw(); // a previous thaw may have failed
    const pids = this.#processes();
    // evictd may be among the processes: cgroup.kill would end it, signals spare it.
    if (pids === undefined) return this.#signal('SIGKILL');
    if (pids.includes(process.pid)) return refused('SIGKILL: evictd itself is in it');
    const before = this.#killed;
    this.#killed = new Set(pids);
    const nowNs = process.hrtime.bigint();
    if (before === undefined) this.#triedAllAtNs = nowNs;
    const isForking = before !== undefined && pids.some((pid) => !before.has(pid));
    const isStuck = nowNs - this.#triedAllAtNs >= STUCK_NS;
    const isUnified = this.#parts.files.unified && writeCgroupKill(this.#parts.handle);
    if (isForking || isStuck) this.#triedAllAtNs = nowNs;
    try {
      if (isUnified) {
        if (before !== undefined) this.#signal('SIGKILL'); // gives the reaper the processes
        return { atNs: process.hrtime.bigint(), processes: pids.length, error: undefined };
      }
      const signal = (): SignalResult => this.#signal('SIGKILL');
      return isForking || isStuck ? this.#freezer.whileFrozen(signal) : signal();
    } finally {
      if (isStuck) this.#freezer.thawOwnCgroups();
    }
  }

  read(): VictimSample {
    const { files } = this.#parts;
    const usage = files.usage();
    // On v2 a memory controller that was disabled above looks the same.
    const removed = usage === 'removed' && (!files.unified || files.populated() === false);
    return { processes: removed ? 0 : this.#remaining(), usageBytes: usage === 'removed' ? undefined : usage, removed };
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#parts.exit.watch(this.#parts.handle, this.#parts.files, callback);
  }

  close(): void {
    this.#parts.exit.close();
    this.#parts.files.close();
    this.#freezer.release(); // last: the other close() calls free descriptors
    this.#parts.handle.close();
  }

  /**
   * On v2 `populated` includes processes outside evictd's pid namespace. On v1 a process can move between cgroups
   * during a reading and escape it, so only two empty readings in a row count as empty. An unreadable list counts as
   * one process.
   */
  #remaining(): number {
    const populated = this.#parts.files.populated();
    if (populated === false) return 0;
    const count = (): number => this.#processes()?.length ?? 1;
    return populated === true ? Math.max(count(), 1) : count() || count();
  }

  /** undefined: unknown. */
  #processes(): readonly number[] | undefined {
    try {
      return this.#parts.handle.processes();
    } catch {
      return undefined;
    }
  }

  #signal(name: 'SIGTERM' | 'SIGCONT' | 'SIGKILL'): SignalResult {
    const { handle, reaper } = this.#parts;
    try {
      const sent = handle.signal(constants.signals[name], name === 'SIGKILL' ? reaper : undefined);
      const { found, signalled, errno } = sent;
      const atNs = signalled > 0 ? sent.atNs : process.hrtime.bigint();
      if (errno === 0) return { atNs, processes: found, error: undefined };
      return { atNs, processes: found, error: `${name}: ${errnoText(errno)}`, passing: this.#passing(name, signalled, errno) };
    } catch (error) {
      return { ...refused(`${name}: ${errnoName(error) ?? String(error)}`), passing: isShortage(error) ? 'unsent' : undefined };
    }
  }

  #passing(name: string, signalled: number, errno: number): SignalResult['passing'] {
    // cgroup.kill can still end processes that have no pid here or that evictd may not signal.
    if (signalled > 0 || (name === 'SIGTERM' && !isShortageErrno(errno) && this.#parts.files.unified)) return 'in part';
    return isShortageErrno(errno) ? 'unsent' : undefined;
  }
}

function refused(error: string): SignalResult {
  return { atNs: process.hrtime.bigint(), processes: 0, error };
}
