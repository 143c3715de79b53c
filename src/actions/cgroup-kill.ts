import { constants } from 'node:os';
import { errnoName, errnoText, isShortage, isShortageErrno } from '../errors.js';
import type { KillInProgress, SignalResult, VictimSample } from '../monitor/ports.js';
import type { MemoryReaper } from '../native/binding.js';
import { killsAtOnce, Standstill, type StandstillParts } from './standstill.js';
import type { VictimExit } from './victim-exit.js';
import type { VictimFiles } from './victim-files.js';

/** Whoever is still there after this long, though nobody new came, is perhaps frozen. */
const STUCK_NS = 100_000_000n;

export interface CgroupKillParts extends StandstillParts {
  readonly files: VictimFiles;
  readonly exit: VictimExit;
  readonly reaper: MemoryReaper;
}

/** The end of one cgroup. `atNs` of what it returns is taken after the last signal was sent: what is measured with it is rather too long than too short. */
export class CgroupKill implements KillInProgress {
  readonly #parts: CgroupKillParts;
  readonly #standstill: Standstill;
  /** Who was there at the last SIGKILL; undefined: there was none. */
  #killed: ReadonlySet<number> | undefined;
  #triedAllAtNs = 0n;

  constructor(parts: CgroupKillParts) {
    this.#parts = parts;
    this.#standstill = new Standstill(parts);
  }

  /** SIGCONT follows SIGTERM, as systemd does it: a stopped process would never get to handle the SIGTERM. */
  terminate(): SignalResult {
    const terminated = this.#signal('SIGTERM');
    this.#signal('SIGCONT');
    return terminated;
  }

  /**
   * cgroup.kill gets the processes that are just being forked, too. Where there is none (v1, kernels before 5.14) or where it is refused (a read-only mount) each
   * process is signalled: at once, and where that has left somebody new, held still first.
   */
  kill(): SignalResult {
    this.#standstill.thaw(); // where that failed the last time
    const pids = this.#processes();
    // Whether evictd is in it is not known, and cgroup.kill would take it along; signals spare it.
    if (pids === undefined) return this.#signal('SIGKILL');
    if (pids.includes(process.pid)) return refused('SIGKILL: evictd itself is in it');
    const before = this.#killed;
    this.#killed = new Set(pids);
    const nowNs = process.hrtime.bigint();
    if (before === undefined) this.#triedAllAtNs = nowNs;
    const isForking = before !== undefined && pids.some((pid) => !before.has(pid));
    const isStuck = nowNs - this.#triedAllAtNs >= STUCK_NS;
    const isUnified = this.#parts.files.unified && killsAtOnce(this.#parts.handle);
    if (isForking || isStuck) this.#triedAllAtNs = nowNs;
    try {
      if (isUnified) {
        if (before !== undefined) this.#signal('SIGKILL'); // for the reaper, who takes processes
        return { atNs: process.hrtime.bigint(), processes: pids.length, error: undefined };
      }
      const signal = (): SignalResult => this.#signal('SIGKILL');
      return isForking || isStuck ? this.#standstill.during(signal) : signal();
    } finally {
      if (isStuck) this.#standstill.thawParts();
    }
  }

  read(): VictimSample {
    const { files } = this.#parts;
    const usage = files.usage();
    // On v2 the memory controller may have been switched off above it, which looks the same.
    const removed = usage === 'removed' && (!files.unified || files.populated() === false);
    return { processes: removed ? 0 : this.#left(), usageBytes: usage === 'removed' ? undefined : usage, removed };
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#parts.exit.watch(this.#parts.handle, this.#parts.files, callback);
  }

  close(): void {
    this.#parts.exit.close();
    this.#parts.files.close();
    this.#standstill.end(); // with the descriptors that the others gave back
    this.#parts.handle.close();
  }

  /**
   * v2 knows whether anybody is left, those included that have no number in evictd's pid namespace. On v1 a process can move from a cgroup that is still to
   * be read into one that was read, and be in neither list: only two empty readings in a row mean that nobody is left. What cannot be read counts as one.
   */
  #left(): number {
    const populated = this.#parts.files.populated();
    if (populated === false) return 0;
    const count = (): number => this.#processes()?.length ?? 1;
    return populated === true ? Math.max(count(), 1) : count() || count();
  }

  /** undefined: not known. */
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
    // Who has no number in evictd's pid namespace, or is not its to signal, can be ended by cgroup.kill all the same.
    if (signalled > 0 || (name === 'SIGTERM' && !isShortageErrno(errno) && this.#parts.files.unified)) return 'in part';
    return isShortageErrno(errno) ? 'unsent' : undefined;
  }
}

function refused(error: string): SignalResult {
  return { atNs: process.hrtime.bigint(), processes: 0, error };
}
