import type { Config } from '../../config/config.js';
import { formatDuration, NS_PER_SECOND } from '../../core/quantity/duration.js';
import { victimId } from '../../core/workload/process.js';
import type { Rule } from '../../core/workload/rule.js';
import type { Policy } from '../../core/decide/state.js';
import type { RecordedConfig, RecordingHeader } from '../../recording/recording-format.js';
import type { OtherRun } from './other-run.js';
import type { SignalReadings } from './reading-gaps.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { RecordingEnd } from '../../recording/recording-stream.js';
import type { Decision } from '../../core/decide/eviction.js';

export interface AssumptionFacts {
  readonly config: Config;
  readonly recorded: RecordedConfig;
  readonly recordedPolicy: Policy;
  readonly unrecordedSources: readonly string[];
  readonly run: OtherRun;
  readonly differences: readonly Difference[];
  readonly dryRun: boolean;
}

/** The assumptions of a replay with another configuration that mattered here; docs/replay.md has all. */
export function assumptions(facts: AssumptionFacts): string[] {
  const { config, recorded, recordedPolicy, unrecordedSources, run, differences, dryRun } = facts;
  const has = (kind: Difference['kind']): boolean => differences.some((difference) => difference.kind === kind);
  const found: [boolean, string][] = [
    [
      true,
      'the readings are those of the recorded evictd: a threshold that only the other configuration has is met at the next reading, not at the crossing. A shortage between two readings is not seen',
    ],
    [
      differences.some((difference) => difference.kind !== 'missing' && isSoft(difference.replayed.decision)),
      'a soft threshold stays met between two readings that meet it: with a recovery in between it would evict later',
    ],
    [
      !dryRun && (has('additional') || has('earlier')),
      'a workload that only the other configuration evicts has ended at the next step; its recorded usage counts as available from then on',
    ],
    [
      !dryRun && (has('missing') || has('later')),
      'a workload that only the recorded run evicted keeps its memory; what its eviction freed does not count as available',
    ],
    [
      !dryRun && differences.some(({ kind }) => kind !== 'same'),
      'so the first difference is certain, as far as the readings go, and later ones are estimates',
    ],
    [
      run.oldestReadingNs !== undefined && run.oldestReadingNs >= NS_PER_SECOND,
      `workloads were not read in every step: the oldest values used were ${formatDuration(((run.oldestReadingNs ?? 0n) / NS_PER_SECOND) * NS_PER_SECOND)} old, and a workload that has begun since is not a candidate`,
    ],
    [run.unreadSteps > 0, `no workload is evicted in ${String(run.unreadSteps)} steps before workloads were first read`],
    [unrecordedSources.length > 0, `the workloads of ${unrecordedSources.join(', ')} were not recorded and are not candidates`],
    [
      recorded.rules.some((rule) => rule.requestsMemory !== undefined && !config.rules.some((other) => givesRequest(other, rule.match))),
      'a workload whose request came only from a recorded rule has none: the guarantee of its cgroup was not recorded',
    ],
    [
      config.monitoringIntervalNs < recordedPolicy.monitoringIntervalNs,
      `the monitoring interval is the recorded one, ${formatDuration(recordedPolicy.monitoringIntervalNs)}`,
    ],
  ];
  return found.filter(([applies]) => applies).map(([, text]) => text);
}

function givesRequest({ match, requestsMemory }: Rule, { name, path }: Rule['match']): boolean {
  return requestsMemory !== undefined && match.name === name && match.path === path;
}

function isSoft({ cause }: Decision): boolean {
  return cause.kind === 'threshold' && cause.threshold.gracePeriodNs > 0n;
}

/** A replayed journal record; `time` of the step, by the clock of the recorded machine. */
export interface TimedRecord {
  readonly time: string;
  /** The time on the monotonic clock; unique for a step. */
  readonly atNs: bigint;
  readonly record: JournalRecord;
}

export interface ReplayReport {
  readonly file: string;
  /** Why runs of the file are unreadable. */
  readonly damages: readonly string[];
  /** The runs of the recording, at least one. */
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
  /** `notBefore`: the time is that of a reading, and the crossing was earlier, but not before this. */
  readonly differences: readonly (Difference & { readonly time: string; readonly notBefore?: string })[];
  /** Readings of each signal with a threshold. */
  readonly readings: readonly SignalReadings[];
  /** Records with the other configuration. */
  readonly records: readonly TimedRecord[];
  /** Why the comparison is limited. */
  readonly warnings: readonly string[];
  readonly assumptions: readonly string[];
}

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
    const at = unpaired.findIndex(({ decision }) => victimId(decision.victim) === victimId(made.decision.victim));
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
