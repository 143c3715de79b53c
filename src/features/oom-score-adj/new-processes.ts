import { UNKILLABLE } from '../../core/oom/oom-badness.js';
import type { Ledger } from './adjustment-ledger.js';
import type { ProcessListing, SeenProcess } from './process-listing.js';
import { AdjustedProcess } from './adjusted-process.js';
import type { AdjustedWorkload } from './adjusted-workload.js';

/** Processes that are new in a workload: started, moved in, or forked by a member. */
export class NewProcesses {
  readonly #ledger: Ledger;
  readonly #listing: ProcessListing;

  constructor(ledger: Ledger, listing: ProcessListing) {
    this.#ledger = ledger;
    this.#listing = listing;
  }

  pids(touched: AdjustedWorkload): readonly number[] {
    return (this.#listing.pids(touched) ?? []).filter((pid) => !touched.members.has(pid));
  }

  /** Adds processes that are still listed, which proves that the pid was not reused meanwhile. Returns how many. */
  admit(touched: AdjustedWorkload, unknown: readonly SeenProcess[]): number {
    if (unknown.length === 0) return 0;
    const listed = new Set(this.#listing.pids(touched));
    const arrived = unknown.filter(({ identity: { pid }, value }) => listed.has(pid) && value !== UNKILLABLE);
    for (const seen of arrived) {
      if (!this.#move(touched, seen)) touched.add(this.#memberOf(touched, seen));
      this.#ledger.changed();
    }
    return arrived.length;
  }

  #move(touched: AdjustedWorkload, { identity: { pid, start } }: SeenProcess): boolean {
    const from = this.#ledger.workloadOf(pid);
    const member = from?.members.get(pid);
    if (member?.start !== start) return false;
    from?.members.delete(pid);
    touched.adopt(member);
    return true;
  }

  /** A new process with a value that evictd wrote inherited it from its parent. */
  #memberOf(touched: AdjustedWorkload, { identity: { pid, start, parent }, value }: SeenProcess): AdjustedProcess {
    const kin = this.#ledger.workloadOf(parent)?.members.get(parent);
    const heirOf = kin?.now === value ? kin : undefined;
    const left = heirOf?.left === true;
    const ours = !left && (touched.written.has(value) || heirOf?.ours === true);
    if (ours) touched.written.add(value);
    return new AdjustedProcess({ pid, start, found: ours ? (kin?.found ?? touched.found) : value, left, now: value, ours });
  }
}
