import { constants } from 'node:os';
import { attempt, errnoName, errnoText, isShortage, isShortageErrno } from '../../errors.js';
import type { KillInProgress, SignalResult, VictimSample } from '../../monitor/ports/ports.js';
import type { MemoryReaper } from '../../native/binding.js';
import { native } from '../../native/index.js';
import { writeCgroupKill } from './cgroup-kill.js';
import { laterProcess, processorUse } from './dying-processes.js';
import { Freezer, type FreezerParts } from './freezer.js';
import type { VictimExit } from './victim-exit.js';
import type { VictimFiles } from './victim-files.js';

/** A process that outlives SIGKILL this long, while no new one appears, may be frozen. */
const STUCK_NS = 100_000_000n;
/**
 * cgroup.kill ends every process, also those that are being forked, so it is repeated only after this time: a process
 * may have moved into the cgroup since. Until then the processes are not counted, either.
 */
const KILLED_AGAIN_NS = 1_000_000_000n;
/** Most victims end sooner. After this time the work of their processes shows whether the kernel still ends them. */
const LOOKED_AT_NS = 500_000_000n;

export interface VictimKillParts extends FreezerParts {
  readonly files: VictimFiles;
  readonly exit: VictimExit;
  readonly reaper: MemoryReaper;
  /** Whether evictd is in the cgroup or below; undefined: its own cgroup is hidden. */
  readonly holdsEvictd: () => boolean | undefined;
}

/**
 * Ends one cgroup. `atNs` of a result is taken after the last signal: durations measured from it err on the long side.
 */
export class VictimKill implements KillInProgress {
  readonly #parts: VictimKillParts;
  readonly #freezer: Freezer;
  /** The processes at the last SIGKILL; undefined: none was sent. */
  #killed: ReadonlySet<number> | undefined;
  #triedAllAtNs = 0n;
  /** The first SIGKILL; undefined: none was sent. */
  #killedAtNs: bigint | undefined;
  /** The result of the last SIGKILL to each process. */
  #signalled: SignalResult | undefined;
  /** The last cgroup.kill, monotonic; undefined: none. */
  #endedAtNs: bigint | undefined;
  /** When all were ended, by CLOCK_BOOTTIME: the first cgroup.kill, or SIGKILL while none of them could start another one. */
  #endedAtBootNs: bigint | undefined;

  /** It has more cgroups than are listed: each call looks at a part of them, and goes on there. */
  #isLarge = false;
  /** SIGTERM has not been sent to all parts yet. */
  #isTerminating = false;

  constructor(parts: VictimKillParts) {
    this.#parts = parts;
    this.#freezer = new Freezer(parts);
  }

  /**
   * Sends SIGCONT after SIGTERM, as systemd does: a stopped process could not handle SIGTERM. A large victim gets both
   * part by part, with each `read`.
   */
  terminate(): SignalResult {
    const terminated = this.#signal('SIGTERM');
    this.#signal('SIGCONT');
    return terminated;
  }

  /**
   * Writes cgroup.kill, which also ends processes that are being forked. Without it (v1, kernels before 5.14, a
   * read-only mount) signals each process; if new processes appear after that, freezes the cgroup first. Call it again
   * while processes are left: it repeats what can help.
   */
  kill(): SignalResult {
    this.#isTerminating = false;
    this.#killedAtNs ??= process.hrtime.bigint();
    this.#freezer.thaw(); // a previous thaw may have failed
    return (this.#parts.files.unified ? this.#killUnified() : undefined) ?? this.#killEach();
  }

  rehearse(): void {
    if (this.#parts.files.unified) this.#parts.holdsEvictd();
    else attempt(() => (this.#processes(), this.#parts.handle.signal(0)));
  }

  /** undefined: it cannot. */
  #killUnified(): SignalResult | undefined {
    if (this.#endedAtNs !== undefined && this.#isAwaited()) return { atNs: this.#endedAtNs, processes: undefined, error: undefined };
    // cgroup.kill would end evictd, too; signals spare it.
    const holdsEvictd = this.#parts.holdsEvictd() ?? this.#processes()?.includes(process.pid);
    if (holdsEvictd) return refused('SIGKILL: evictd itself is in it');
    if (holdsEvictd === undefined || !writeCgroupKill(this.#parts.handle)) return undefined;
    const atNs = process.hrtime.bigint();
    this.#endedAtNs = atNs;
    this.#endedAtBootNs ??= native.bootTimeNs();
    attempt(() => this.#parts.handle.signal(0, this.#parts.reaper)); // it frees what they have until they are scheduled
    return { atNs, processes: undefined, error: undefined };
  }

  /** cgroup.kill has ended all of it, and the kernel needs time. */
  #isAwaited(): boolean {
    return this.#endedAtNs !== undefined && process.hrtime.bigint() - this.#endedAtNs < KILLED_AGAIN_NS;
  }

  #killEach(): SignalResult {
    const pids = this.#processes();
    if (pids === undefined) return this.#signal('SIGKILL');
    if (pids.includes(process.pid)) return refused('SIGKILL: evictd itself is in it');
    const before = this.#killed;
    this.#killed = new Set(pids);
    const nowNs = process.hrtime.bigint();
    if (before === undefined) this.#triedAllAtNs = nowNs;
    const isForking = before !== undefined && pids.some((pid) => !before.has(pid));
    const isStuck = nowNs - this.#triedAllAtNs >= STUCK_NS;
    // A second SIGKILL does not help a process that has got one.
    if (!isForking && !isStuck && before !== undefined && this.#signalled?.error === undefined)
      return this.#signalled ?? this.#signal('SIGKILL');
    if (isForking || isStuck) this.#triedAllAtNs = nowNs;
    try {
      this.#signalled = isForking || isStuck ? this.#freezer.whileFrozen((isHeld) => this.#killHeld(isHeld)) : this.#signal('SIGKILL');
      return this.#signalled;
    } finally {
      if (isStuck) this.#freezer.thawOwnCgroups();
    }
  }

  #killHeld(isHeld: boolean): SignalResult {
    const heldAtBootNs = native.bootTimeNs();
    const killed = this.#signal('SIGKILL');
    if (isHeld && !this.#isLarge && killed.error === undefined) this.#endedAtBootNs ??= heldAtBootNs;
    return killed;
  }

  read(): VictimSample {
    const { files } = this.#parts;
    if (this.#isTerminating) this.terminate();
    const usage = files.usage();
    // On v2 a memory controller that was disabled above looks the same.
    const removed = usage === 'removed' && (!files.unified || files.populated() === false);
    const remaining = removed ? 0 : this.#remaining();
    const left = remaining > 0 && this.#isLookedAt() ? (this.#processes() ?? []) : [];
    // A process that was started after all of the victim had ended, by systemd for ExecStopPost= for example, is not part
    // of the victim.
    const later = this.#endedAtBootNs === undefined ? undefined : laterProcess(left, this.#endedAtBootNs);
    const sample = { processes: later === undefined ? remaining : 0, removed, ...(later && { later }) };
    if (usage === 'removed' || usage === undefined) return { ...sample, usageBytes: undefined };
    return { ...sample, usageBytes: usage, swapBytes: files.swap(usage), ...(later === undefined && processorUse(left)) };
  }

  #isLookedAt(): boolean {
    return this.#killedAtNs !== undefined && process.hrtime.bigint() - this.#killedAtNs >= LOOKED_AT_NS;
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
   * On v2 `populated` includes processes outside evictd's pid namespace, and is enough while cgroup.kill works. On v1 a
   * process can move between cgroups during a reading and escape it, so only two empty readings in a row count as
   * empty. An unreadable list counts as one process.
   */
  #remaining(): number {
    const populated = this.#parts.files.populated();
    if (populated === false) return 0;
    if (populated === true && this.#isAwaited()) return 1;
    const count = (): number => this.#processes()?.length ?? this.#countPart();
    return populated === true ? Math.max(count(), 1) : count() || count();
  }

  /** undefined: unknown. */
  #processes(): readonly number[] | undefined {
    if (this.#isLarge) return undefined;
    try {
      return this.#parts.handle.processes();
    } catch (error) {
      this.#isLarge = errnoName(error) === 'EFBIG';
      return undefined;
    }
  }

  /** Counts a part of the cgroups; at least 1 until two rounds over all cgroups in a row have found no process. */
  #countPart(): number {
    const part = this.#isLarge ? attempt(() => this.#parts.handle.signal(0)) : undefined;
    return part?.found === 0 && part.emptyRounds >= 2 ? 0 : Math.max(part?.found ?? 1, 1);
  }

  #signal(name: 'SIGTERM' | 'SIGCONT' | 'SIGKILL'): SignalResult {
    const { handle, reaper } = this.#parts;
    try {
      const sent = handle.signal(constants.signals[name], name === 'SIGKILL' ? reaper : undefined);
      const { found, signalled, errno } = sent;
      if (name === 'SIGTERM') this.#isTerminating = !sent.complete;
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
