import type { Config } from '../../config/config.js';
import { formatDuration } from '../../core/quantity/duration.js';
import type { Rule } from '../../core/workload/rule.js';
import type { Policy } from '../../core/decide/state.js';
import type { RecordedConfig } from '../../recording/recording-format.js';
import type { Difference } from './replay-report.js';
import type { OtherRun } from './other-run.js';

const SECOND_NS = 1_000_000_000n;

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
      'the node is sampled when the recorded evictd sampled it: a threshold that only the other configuration has is met at the next step, not at the crossing',
    ],
    [
      !dryRun && (has('additional') || has('earlier')),
      'a workload that only the other configuration evicts has ended at the next step; its recorded usage counts as available from then on',
    ],
    [
      !dryRun && (has('missing') || has('later')),
      'a workload that only the recorded run evicted keeps its memory; what its eviction freed does not count as available',
    ],
    [!dryRun && differences.some(({ kind }) => kind !== 'same'), 'so the first difference is certain, and later ones are estimates'],
    [
      run.oldestReadingNs !== undefined && run.oldestReadingNs >= SECOND_NS,
      `workloads were not read in every step: the oldest values used were ${formatDuration(seconds(run.oldestReadingNs ?? 0n))} old`,
    ],
    [run.unreadSteps > 0, `no workload is evicted in ${String(run.unreadSteps)} steps before workloads were first read`],
    [unrecordedSources.length > 0, `the workloads of ${unrecordedSources.join(', ')} were not recorded and are no candidates`],
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

function seconds(ns: bigint): bigint {
  return (ns / SECOND_NS) * SECOND_NS;
}
