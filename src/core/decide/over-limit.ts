import type { ChoiceContext } from '../rank/eviction-attempt.js';
import { decide, type Choice } from '../rank/eviction-decision.js';
import type { RankedWorkload } from '../rank/rank.js';
import { localStorageEviction } from '../disk/storage-limit.js';
import type { Candidates, WorkloadUsage } from '../workload/workload.js';

const KEY = 'over-limit ';

/**
 * Evicts every workload that exceeds its own limits of local storage, whatever the node has left (kubelet:
 * localStorageEviction). Skips workloads in eviction, those whose kill failed a moment ago, and in a dry run those
 * already reported.
 */
export function evictOverLimit<C extends Choice>(
  { policy, layout, failedKills, nowNs }: Pick<ChoiceContext, 'policy' | 'layout' | 'failedKills' | 'nowNs'>,
  before: C,
  candidates: Candidates,
): C {
  const over = localStorageEviction(candidates.usages, layout).filter(({ usage: { workload } }) => workload.protection === undefined);
  const named = new Set(over.map(({ usage }) => KEY + usage.workload.id));
  const settled = new Map([...before.settled].filter(([key]) => !key.startsWith(KEY) || named.has(key)));
  let chosen: C = { ...before, settled };
  for (const { usage, breach } of over) {
    const key = KEY + usage.workload.id;
    const underway = chosen.evictions.some(({ decision }) => decision.victim.workload.id === usage.workload.id);
    const paused = nowNs < (failedKills.get(usage.workload.id) ?? nowNs);
    if (underway || paused || settled.has(key) || candidates.veto?.(usage.workload) !== undefined) continue;
    const victim = alone(usage);
    chosen = {
      ...chosen,
      ...decide(policy, chosen, { kind: 'storage-limit', breach }, { victim, ranking: [victim], found: candidates }, nowNs),
    };
    if (policy.dryRun) settled.set(key, key);
  }
  return chosen;
}

/** A ranking of one workload: the limit is the workload's own. */
function alone({ workload, stats }: WorkloadUsage): RankedWorkload {
  const usage = stats?.ephemeralStorageBytes;
  const requestNano = workload.requests.ephemeralStorage;
  const aboveRequestNano = (usage ?? 0n) * 1_000_000_000n - requestNano;
  const { priority, protection } = workload;
  return { place: 1, workload, stats, usage, requestNano, exceedsRequest: aboveRequestNano > 0n, priority, aboveRequestNano, protection };
}
