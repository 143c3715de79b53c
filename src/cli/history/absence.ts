import { integerIn, textIn, type JournalRecord } from './journal-record.js';

/**
 * Counts OOM kills while evictd did not run: the growth of the kernel's counter between the last record of a run and the `start` of the
 * next one in the same boot. Needs the records in order.
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
