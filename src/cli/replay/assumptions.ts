import type { Config } from '../../config/config.js';
import { formatDuration } from '../../core/duration.js';
import type { Rule } from '../../core/rule.js';
import type { Policy } from '../../core/state.js';
import type { RecordedConfig } from '../../monitor/recording/format.js';
import type { Difference } from './difference.js';
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

/** What a replay under another configuration takes for granted, as far as it mattered here; docs/replay.md has all of it. */
export function assumptions(facts: AssumptionFacts): string[] {
  const { config, recorded, recordedPolicy, unrecordedSources, run, differences, dryRun } = facts;
  const has = (kind: Difference['kind']): boolean => differences.some((difference) => difference.kind === kind);
  const found: [boolean, string][] = [
    [
      true,
      'the node is looked at when the recorded evictd looked: a threshold that only the other configuration has is seen at the next step, not when it is crossed',
    ],
    [
      !dryRun && (has('additional') || has('earlier')),
      'who is evicted only by the other configuration is dead at the next step; what it went on using in reality counts as available from then on',
    ],
    [
      !dryRun && (has('missing') || has('later')),
      'who was evicted only in reality stays, with the memory that it had; what it gave back in reality does not count as available',
    ],
    [!dryRun && differences.some(({ kind }) => kind !== 'same'), 'so the first difference is certain, and what follows it is a model'],
    [
      run.oldestReadingNs !== undefined && run.oldestReadingNs >= SECOND_NS,
      `workloads were not always read in the step that needed them: the oldest reading used was ${formatDuration(seconds(run.oldestReadingNs ?? 0n))} old`,
    ],
    [
      run.unreadSteps > 0,
      `somebody would have had to go before any workload was read: nobody was evicted there (steps: ${String(run.unreadSteps)})`,
    ],
    [unrecordedSources.length > 0, `the workloads of ${unrecordedSources.join(', ')} were not recorded: they are no candidates here`],
    [
      recorded.rules.some((rule) => rule.requestsMemory !== undefined && !config.rules.some((other) => givesRequest(other, rule.match))),
      "where only a recorded rule gave a request, the workload has none: its cgroup's own guarantee was not recorded",
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
