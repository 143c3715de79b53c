import type { JournalRecord } from '../../monitor/record.js';
import type { RecordingEnd } from '../../monitor/recording/stream.js';
import type { RecordingHeader } from '../../monitor/recording/format.js';
import type { Difference } from './difference.js';

/** A replayed journal record; `time` of the step, by the clock of the recorded machine. */
export interface TimedRecord {
  readonly time: string;
  /** The same on the monotonic clock; unique for a step. */
  readonly atNs: bigint;
  readonly record: JournalRecord;
}

export interface ReplayReport {
  readonly file: string;
  /** Why runs of the file are unreadable. */
  readonly damages: readonly string[];
  /** At least one. */
  readonly runs: readonly RunReport[];
}

export interface RunReport {
  readonly header: RecordingHeader;
  readonly end: RecordingEnd;
  /** Times of the first and last step; undefined: no step. */
  readonly span: { readonly from: string; readonly to: string } | undefined;
  readonly steps: number;
  /** Steps that were not recorded. */
  readonly lost: number;
  readonly records: readonly TimedRecord[];
  /** Decisions that differ from the recorded ones with the same configuration: evictd has another version. */
  readonly deviations: readonly string[];
  /** undefined: no other configuration was given. */
  readonly other: OtherReport | undefined;
}

export interface OtherReport {
  readonly differences: readonly (Difference & { readonly time: string })[];
  /** Records with the other configuration. */
  readonly records: readonly TimedRecord[];
  /** Why the comparison is limited. */
  readonly warnings: readonly string[];
  readonly assumptions: readonly string[];
}
