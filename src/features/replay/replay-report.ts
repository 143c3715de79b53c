import type { JournalRecord } from '../../journal/records/record.js';
import type { RecordingEnd } from '../../recording/recording-stream.js';
import type { RecordingHeader } from '../../recording/recording-format.js';
import type { Decision } from '../../core/decide/eviction.js';

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

/** A decision with its record and time. */
export interface TimedDecision {
  readonly decision: Decision;
  readonly record: JournalRecord;
  readonly atNs: bigint;
}

/** A decision of both runs, at the same time or not; of the recorded run only; of the replay only. */
export type Difference =
  | { readonly kind: 'same' | 'earlier' | 'later'; readonly recorded: TimedDecision; readonly replayed: TimedDecision }
  | { readonly kind: 'missing'; readonly recorded: TimedDecision }
  | { readonly kind: 'additional'; readonly replayed: TimedDecision };

/** Pairs decisions with the same victim in their order. Sorted by time. */
export function differences(recorded: readonly TimedDecision[], replayed: readonly TimedDecision[]): Difference[] {
  const unpaired = [...replayed];
  const pairedOrMissing = recorded.map((made): Difference => {
    const at = unpaired.findIndex(({ decision }) => decision.victim.workload.id === made.decision.victim.workload.id);
    const [other] = at === -1 ? [] : unpaired.splice(at, 1);
    if (other === undefined) return { kind: 'missing', recorded: made };
    const kind = other.atNs === made.atNs ? 'same' : other.atNs < made.atNs ? 'earlier' : 'later';
    return { kind, recorded: made, replayed: other };
  });
  const additional = unpaired.map((made): Difference => ({ kind: 'additional', replayed: made }));
  return [...pairedOrMissing, ...additional].sort((a, b) => Number(shownDecision(a).atNs - shownDecision(b).atNs));
}

/** The replayed decision, if there is one. */
export function shownDecision(difference: Difference): TimedDecision {
  return difference.kind === 'missing' ? difference.recorded : difference.replayed;
}
