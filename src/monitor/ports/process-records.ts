import type { Decision } from '../../core/decide/eviction.js';
import type { VictimProcess, VictimProcesses } from '../../core/oom/victim-process.js';
import type { Workload } from '../../core/workload/workload.js';

export interface ProcessReader {
  /** The largest processes, the largest first. Yields where it may be interrupted. Never throws. @param compared  at most so many */
  read(workload: Workload, compared: number): Generator<void, readonly VictimProcess[]>;
}

/** Which processes a victim had. No signal waits for a reading. No method throws. */
export interface ProcessRecords {
  /** One of these may be evicted soon. Reads their processes a little later, between other events. */
  expect(workloads: readonly Workload[]): void;
  /** The processes for the record of the decision. Reads them now only if the signal is not urgent, or none follows. */
  decided(decision: Decision): VictimProcesses | undefined;
  /** All signals of the step were sent. Reads what is left of the victim's processes if `decided` knew none. */
  signalled(decision: Decision): void;
  /** What `decided` did not know, and `signalled` has read. To be called once, at the end of the eviction. */
  ended(decision: Decision): readonly VictimProcess[] | undefined;
}
