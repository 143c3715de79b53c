import { integerIn, textIn, type JournalRecord } from './journal-record.js';

/**
 * OOM kills of the kernel while evictd did not run: between the last record of one run and the `start` of the next one in the same boot, the kernel's own counter
 * has grown. Records must come in their order.
 */
export class Absence {
  /** Processes. */
  oomKills = 0n;
  /** By node: the counter as of its latest record, and the boot in which it counts. */
  readonly #known = new Map<unknown, { readonly bootId: string | undefined; readonly counted: bigint }>();

  saw(record: JournalRecord): void {
    const counted = integerIn(record, 'oomKillsCounted');
    if (counted === undefined || record.dryRun === true) return;
    const before = this.#known.get(record.node);
    const bootId = record.type === 'start' ? textIn(record, 'bootId') : before?.bootId;
    const isSameBoot = record.type === 'start' && before !== undefined && bootId !== undefined && bootId === before.bootId;
    // A cgroup that was made again counts from 0.
    if (isSameBoot && counted > before.counted) this.oomKills += counted - before.counted;
    this.#known.set(record.node, { bootId, counted });
  }
}
