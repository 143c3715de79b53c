import type { Decision } from '../../core/eviction.js';
import type { JournalRecord } from '../../monitor/record.js';

/** A decision with its record, and when it was made. */
export interface Made {
  readonly decision: Decision;
  readonly record: JournalRecord;
  readonly atNs: bigint;
}

/** What became of a decision under another configuration: who is evicted by both, at the same time or not; by the recorded run only; only now. */
export type Difference =
  | { readonly kind: 'same' | 'earlier' | 'later'; readonly recorded: Made; readonly replayed: Made }
  | { readonly kind: 'missing'; readonly recorded: Made }
  | { readonly kind: 'additional'; readonly replayed: Made };

/** Pairs the decisions by their victims, each with the first that has none; in the order in which they were made. */
export function differences(recorded: readonly Made[], replayed: readonly Made[]): Difference[] {
  const unpaired = [...replayed];
  const pairedOrMissing = recorded.map((made): Difference => {
    const at = unpaired.findIndex(({ decision }) => decision.victim.workload.id === made.decision.victim.workload.id);
    const [other] = at === -1 ? [] : unpaired.splice(at, 1);
    if (other === undefined) return { kind: 'missing', recorded: made };
    const kind = other.atNs === made.atNs ? 'same' : other.atNs < made.atNs ? 'earlier' : 'later';
    return { kind, recorded: made, replayed: other };
  });
  const additional = unpaired.map((made): Difference => ({ kind: 'additional', replayed: made }));
  return [...pairedOrMissing, ...additional].sort((a, b) => Number(madeIn(a).atNs - madeIn(b).atNs));
}

/** What is shown of it: what the other configuration does, if it does anything. */
export function madeIn(difference: Difference): Made {
  return difference.kind === 'missing' ? difference.recorded : difference.replayed;
}
