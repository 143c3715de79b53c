import {
  concernsNode,
  kernelKillMessage,
  oomLimitOf,
  type GuardedMemory,
  type KernelKill,
  type OomLimit,
} from '../../core/oom/kernel-kill.js';
import { claimUnplaced, countersRead, killLogged, openLedger, overdue, type KillLedger } from './oom-kill-ledger.js';
import type { CountedKills, OomTally } from '../../core/oom/oom-kill-count.js';
import type { Log } from '../../log/log.js';
import type { Journal } from '../../journal/journal.js';
import { countedOomRecord, kernelOomRecord } from '../../journal/records/node-records.js';
import type { OomCounterReader, StepListener, StepReport, WorkloadSource } from '../../monitor/ports/ports.js';
import type { Metrics } from '../../monitor/ports/metrics.js';

/**
 * The kernel's count of all OOM kills: the difference between two runs is what happened in between. Empty where counts
 * of two runs cannot be compared.
 */
export type OomKillsCounted = { readonly oomKillsCounted: number } | Readonly<Record<string, never>>;

export interface OomAccountingParts {
  readonly counters: OomCounterReader;
  readonly guarded: GuardedMemory;
  /** The source in force. */
  readonly workloads: Pick<WorkloadSource, 'holding'>;
  readonly log: Pick<Log, 'warn'>;
  readonly journal: Pick<Journal, 'record'>;
  readonly metrics: Pick<Metrics, 'oomKilled'>;
  readonly counted: () => OomKillsCounted;
  readonly hasLog: () => boolean;
}

/** The longest time that a slice of work delays a wake. */
const SLICE_NS = 1_000_000n;
/** A group is killed at once, and no process id is reused as soon. */
const GROUP_US = 1_000_000;
/** The kernel counts a kill before it logs it: for so long the log line is awaited. */
const LOG_WAIT_NS = 1_000_000_000n;

/**
 * Reports every OOM kill of the kernel below the node once: in the journal, the log and the metrics. Kills whose log
 * line names the cgroup are reported at once. The others, and those without a log line, are found by the kernel's
 * counters, which are read when one has moved, in slices between other events.
 */
export class OomAccounting implements StepListener {
  #ledger: KillLedger | undefined;
  #reading: Generator<void, OomTally> | undefined;
  #loggedBefore = 0;
  /** Log lines without a cgroup: the next reading of the counters may place them. */
  #unplaced: KernelKill[] = [];
  #unplacedBefore = 0;
  /** Process ids in recent log lines, and when. */
  readonly #latest = new Map<number, number>();

  constructor(private readonly parts: OomAccountingParts) {}

  /**
   * Kills that are counted by now are not reported. To be called before the log is opened: a kill in between is in the
   * counters then.
   */
  start(): void {
    this.#ledger = openLedger(drained(this.parts.counters.read()));
  }

  killsLogged(kills: readonly KernelKill[]): void {
    for (const kill of kills) {
      if (this.#isAgain(kill)) this.#countAgain(kill);
      else if (kill.cgroup === undefined) this.#unplaced.push(kill);
      else this.#recordLoggedKill(kill, kill.cgroup);
    }
    if (this.#unplaced.length > 0) this.#begin();
  }

  stepped({ wake }: Pick<StepReport, 'wake'>): void {
    if (this.#ledger === undefined) return;
    const isTick = wake.source === 'tick' || wake.source === 'reload';
    const isDue = isTick && (!this.isSettled || this.parts.counters.moved);
    if (isDue || wake.counters?.includes('oom_kill') === true) this.#begin();
  }

  /** No kill that was counted awaits its log line, nor the reverse. */
  get isSettled(): boolean {
    return this.#unplaced.length === 0 && (this.#ledger === undefined || this.#ledger.open.length === 0);
  }

  close(): void {
    if (this.#ledger !== undefined) this.#end(drained(this.#beginReading()), 0n);
    this.#ledger = undefined;
    this.parts.counters.close();
  }

  #begin(): void {
    if (this.#reading !== undefined || this.#ledger === undefined) return;
    const look = this.#beginReading();
    setImmediate(() => this.#continueReading(look));
  }

  #beginReading(): Generator<void, OomTally> {
    this.#loggedBefore = this.#ledger?.logged.length ?? 0;
    this.#unplacedBefore = this.#unplaced.length;
    this.#reading = this.parts.counters.read();
    return this.#reading;
  }

  #continueReading(look: Generator<void, OomTally>): void {
    const startNs = process.hrtime.bigint();
    while (this.#reading === look) {
      const step = look.next();
      if (step.done === true) {
        this.#end(step.value, this.parts.hasLog() ? LOG_WAIT_NS : 0n);
        if (this.#unplaced.length > 0) this.#begin();
      } else if (process.hrtime.bigint() - startNs >= SLICE_NS) {
        setImmediate(() => this.#continueReading(look));
        return;
      }
    }
  }

  #end(tally: OomTally, waitNs: bigint): void {
    this.#reading = undefined;
    if (this.#ledger === undefined) return;
    const nowNs = process.hrtime.bigint();
    const read = this.#place(countersRead(this.#ledger, tally, this.#loggedBefore, nowNs), this.#unplaced.splice(0, this.#unplacedBefore));
    const { ledger, kills } = overdue(read, nowNs, waitNs);
    this.#ledger = ledger;
    for (const each of kills) this.#recordCountedKills(each);
  }

  /**
   * Where a group is killed as a whole (memory.oom.group), the kernel logs and counts the first victim a second time
   * (mm/oom_kill.c).
   */
  #isAgain({ pid, sinceBootUs }: KernelKill): boolean {
    for (const [other, us] of this.#latest) if (sinceBootUs - us > GROUP_US) this.#latest.delete(other);
    const isAgain = this.#latest.has(pid);
    this.#latest.set(pid, sinceBootUs);
    return isAgain;
  }

  /** The second line of one kill, which the counter has, too. */
  #countAgain({ cgroup }: KernelKill): void {
    if (this.#ledger && cgroup !== undefined) this.#ledger = killLogged(this.#ledger, cgroup);
  }

  /**
   * Places kills whose log line has no cgroup. On a node that is a cgroup, only as many as it has counted are its own.
   */
  #place(ledger: KillLedger, kills: readonly KernelKill[]): KillLedger {
    if (kills.length === 0) return ledger;
    const claim = claimUnplaced(ledger, kills.length);
    const { cgroup, limit } = claim.place;
    const own = this.parts.guarded.node === undefined ? kills : kills.slice(0, claim.found);
    for (const kill of own) this.#recordKill({ ...kill, cgroup, limitedCgroup: limit.kind === 'cgroup' ? limit.path : kill.limitedCgroup });
    return claim.ledger;
  }

  #recordLoggedKill(kill: KernelKill, cgroup: string): void {
    if (!concernsNode(kill, this.parts.guarded.node)) return;
    if (this.#ledger) this.#ledger = killLogged(this.#ledger, cgroup);
    this.#recordKill(kill);
  }

  #recordKill(kill: KernelKill): void {
    const { guarded, workloads, log, journal, metrics } = this.parts;
    const workload = kill.cgroup === undefined ? undefined : workloads.holding(kill.cgroup);
    const limit = oomLimitOf(kill, guarded, workload?.path);
    metrics.oomKilled(limit, 1);
    journal.record({ ...kernelOomRecord(kill, limit, workload), ...this.parts.counted() });
    log.warn(kernelKillMessage(kill, workload?.name), { pid: kill.pid, cgroup: kill.cgroup, limit });
  }

  #recordCountedKills(kills: CountedKills): void {
    const { guarded, workloads, log, journal, metrics } = this.parts;
    const workload = kills.cgroup === undefined ? undefined : workloads.holding(kills.cgroup);
    const limit = this.#limitOf(kills, workload?.path);
    const record = countedOomRecord(kills, limit, workload, guarded.node);
    metrics.oomKilled(limit, kills.count);
    journal.record({ ...record, ...this.parts.counted() });
    log.warn(record.message, { cgroup: kills.cgroup, limit });
  }

  #limitOf({ limit }: CountedKills, workload: string | undefined): OomLimit {
    if (limit.kind === 'unknown') return 'unknown';
    const limitedCgroup = limit.kind === 'cgroup' ? limit.path : undefined;
    return oomLimitOf({ constraint: limit.kind === 'cgroup' ? 'memcg' : 'global', limitedCgroup }, this.parts.guarded, workload);
  }
}

function drained(look: Generator<void, OomTally>): OomTally {
  for (;;) {
    const step = look.next();
    if (step.done === true) return step.value;
  }
}
