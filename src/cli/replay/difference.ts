import type { Decision } from '../../core/eviction.js';
import type { JournalRecord } from '../../monitor/record.js';

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
