import { OOM_LIMITS, type OomLimit } from '../../core/oom/kernel-kill.js';
import {
  isDryRun,
  resultOf,
  signalOf,
  timeOf,
  workloadOf,
  type HistoryEvent,
  integerIn,
  textIn,
  type JournalRecord,
} from '../../journal/reading/history-event.js';

/** Limit of the listed workloads; the rest is added up. */
const MAX_WORKLOADS = 10_000;
const OTHERS = '(others)';
const NONE = '(no workload)';

export interface WorkloadHistory {
  readonly name: string;
  /** The number of evictions by result. */
  readonly evictions: Record<string, number>;
  freedBytes: bigint;
  readonly signals: Set<string>;
  /** Processes. */
  readonly oomKills: Record<OomLimit, number>;
  last: string;
}

export class Summary {
  readonly workloads = new Map<string, WorkloadHistory>();
  readonly results: Record<string, number> = {};
  readonly alerts: Record<string, number> = {};
  readonly oomKills = noKills();
  /** OOM kills while evictd did not run; undefined: unknown. */
  oomKillsUnseen: number | undefined;
  freedBytes = 0n;
  first: string | undefined;
  last: string | undefined;

  add(event: HistoryEvent): void {
    const time = timeOf(event);
    if (this.first === undefined || time < this.first) this.first = time;
    if (this.last === undefined || time > this.last) this.last = time;
    if (event.kind === 'eviction') this.#evicted(event, time);
    else if (event.record.type === 'kernel-oom') this.#killed(event, event.record, time);
    else if (event.record.type === 'alert' && !isDryRun(event)) count(this.alerts, textIn(event.record, 'alert') ?? 'unknown');
  }

  #evicted(event: Extract<HistoryEvent, { kind: 'eviction' }>, time: string): void {
    const result = resultOf(event) ?? 'unknown';
    const freed = integerIn(event.outcome, 'freedBytes') ?? 0n;
    const workload = this.#workload(event, time);
    for (const counts of [this.results, workload.evictions]) count(counts, result);
    this.freedBytes += freed;
    workload.freedBytes += freed;
    workload.signals.add(signalOf(event) ?? 'unknown');
  }

  #killed(event: HistoryEvent, record: JournalRecord, time: string): void {
    const processes = Number(integerIn(record, 'count') ?? 1n);
    const recorded = record.limit;
    const limit = OOM_LIMITS.find((each) => each === recorded) ?? 'unknown';
    this.oomKills[limit] += processes;
    this.#workload(event, time).oomKills[limit] += processes;
  }

  #workload(event: HistoryEvent, time: string): WorkloadHistory {
    const wanted = workloadOf(event)?.name ?? NONE;
    const name = this.workloads.has(wanted) || this.workloads.size < MAX_WORKLOADS ? wanted : OTHERS;
    let found = this.workloads.get(name);
    if (found === undefined) {
      found = { name, evictions: {}, freedBytes: 0n, signals: new Set(), oomKills: noKills(), last: time };
      this.workloads.set(name, found);
    }
    if (time > found.last) found.last = time;
    return found;
  }
}

function noKills(): Record<OomLimit, number> {
  return { node: 0, workload: 0, other: 0, unknown: 0 };
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/**
 * Counts OOM kills while evictd did not run: the growth of the kernel's counter between the last record of a run and
 * the `start` of the next one in the same boot. Needs the records in order.
 */
export class DowntimeOomKills {
  /** Processes. */
  total = 0n;
  /** The counter of each node's latest record, and its boot. */
  readonly #known = new Map<unknown, { readonly bootId: string | undefined; readonly counted: bigint }>();

  add(record: JournalRecord): void {
    const counted = integerIn(record, 'oomKillsCounted');
    if (counted === undefined || record.dryRun === true) return;
    const before = this.#known.get(record.node);
    const bootId = record.type === 'start' ? textIn(record, 'bootId') : before?.bootId;
    const isSameBoot = record.type === 'start' && before !== undefined && bootId !== undefined && bootId === before.bootId;
    // A new cgroup counts from 0.
    if (isSameBoot && counted > before.counted) this.total += counted - before.counted;
    this.#known.set(record.node, { bootId, counted });
  }
}
