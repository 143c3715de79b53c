import type { JournalRecord } from '../../monitor/record.js';
import type { RecordingEnd } from '../../monitor/recording/stream.js';
import type { RecordingHeader } from '../../monitor/recording/format.js';
import type { Difference } from './difference.js';

/** A journal record as replayed; `time`: of the step, on the clock of the machine that recorded it. */
export interface TimedRecord {
  readonly time: string;
  /** The same on the monotonic clock: one for all of a step, and no other step's. */
  readonly atNs: bigint;
  readonly record: JournalRecord;
}

/** What a replay has shown. */
export interface ReplayReport {
  readonly file: string;
  /** Why a run of the file cannot be read at all, for each of them. */
  readonly damages: readonly string[];
  /** Those that the file has, in their order: at least one. */
  readonly runs: readonly RunReport[];
}

export interface RunReport {
  readonly header: RecordingHeader;
  readonly end: RecordingEnd;
  /** Times of the first and the last step; undefined: there is none. */
  readonly span: { readonly from: string; readonly to: string } | undefined;
  readonly steps: number;
  /** Steps that no file has. */
  readonly lost: number;
  readonly records: readonly TimedRecord[];
  /** Decisions of the recorded run that this evictd does not make again, or makes in addition, with the same configuration: it is another version. */
  readonly deviations: readonly string[];
  /** undefined: no other configuration was given. */
  readonly other: OtherReport | undefined;
}

export interface OtherReport {
  readonly differences: readonly (Difference & { readonly time: string })[];
  /** Everything that was decided and would have been said, by the other configuration. */
  readonly records: readonly TimedRecord[];
  /** Why it is no configuration to compare with, as sentences. */
  readonly warnings: readonly string[];
  /** What had to be assumed, as sentences. */
  readonly assumptions: readonly string[];
}
