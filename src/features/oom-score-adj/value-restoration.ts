import { isShortage } from '../../errors.js';
import type { RestoredOomScoreAdj } from '../../monitor/ports/ports.js';
import type { NewProcesses } from './new-processes.js';
import type { OomScoreAdjWarnings } from './adjustment-errors.js';
import type { Ledger } from './adjustment-ledger.js';
import type { ProcessListing } from './process-listing.js';
import type { AdjustedProcess, RestoreResult } from './adjusted-process.js';
import type { AdjustedWorkload } from './adjusted-workload.js';

/** Rounds of searching for children forked meanwhile. */
const ROUNDS = 8;

interface GivingBackParts {
  readonly ledger: Ledger;
  readonly listing: ProcessListing;
  readonly arrivals: NewProcesses;
  readonly complaints: OomScoreAdjWarnings;
}

/** Restores original values. Never throws: failures stay in the ledger, and so in the file. */
export class Restorer {
  readonly #parts: GivingBackParts;

  constructor(parts: GivingBackParts) {
    this.#parts = parts;
  }

  /** Restores one process that ended or moved to another cgroup. */
  restoreOne(touched: AdjustedWorkload, member: AdjustedProcess): void {
    if (this.#to(touched, member) === 'failed') return;
    touched.members.delete(member.pid);
    this.#parts.ledger.changed();
  }

  /** Restores all processes of a workload, including children forked meanwhile. */
  restoreAll(touched: AdjustedWorkload): RestoredOomScoreAdj {
    const results = new Map<AdjustedProcess, RestoreResult>();
    let children: number | undefined;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const member of touched.members.values()) if (!results.has(member)) results.set(member, this.#to(touched, member));
      children = this.#admitChildren(touched);
      if (children === undefined || children === 0) break;
    }
    const failed = countOf(results, 'failed');
    if (failed === 0 && children !== undefined) {
      this.#parts.ledger.remove(touched);
    } else {
      for (const [{ pid }, result] of results) if (result === 'given' || result === 'nothing') touched.members.delete(pid);
      this.#parts.ledger.changed();
    }
    return { processes: countOf(results, 'given'), failed };
  }

  /** Adds children with a value of evictd's. undefined: they cannot be listed now. */
  #admitChildren(touched: AdjustedWorkload): number | undefined {
    const { arrivals, listing, complaints } = this.#parts;
    try {
      const children = listing.see(arrivals.pids(touched)).filter(({ value }) => touched.written.has(value));
      return arrivals.admit(touched, children);
    } catch (error) {
      complaints.postponed(touched.name, error);
      return undefined;
    }
  }

  #to(touched: AdjustedWorkload, member: AdjustedProcess): RestoreResult {
    try {
      return member.restore(touched.written);
    } catch (error) {
      const { complaints } = this.#parts;
      if (isShortage(error)) complaints.postponed(touched.name, error);
      else complaints.refused(member.pid, { workload: touched.name, from: member.now, to: member.found }, error);
      return 'failed';
    }
  }
}

function countOf(results: ReadonlyMap<AdjustedProcess, RestoreResult>, wanted: RestoreResult): number {
  return [...results.values()].filter((result) => result === wanted).length;
}
