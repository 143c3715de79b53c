import type { AlertKind, Effect } from './effect.js';
import { type Decision, inFlight, type EvictionInFlight } from './eviction.js';
import type { Observation, Observations } from './observation.js';
import { rankMemoryPressure, type RankedWorkload } from './rank.js';
import { SIGNAL_FACTS, type Resource } from './signal.js';
import type { Policy, State } from './state.js';
import { byEvictionPriority, resolve, thresholdId, thresholdKind, type Threshold } from './threshold.js';
import type { Candidates, Protection } from './workload.js';

/** What came of looking for somebody to evict. */
export interface Choice {
  readonly effects: readonly Effect[];
  readonly evictions: readonly EvictionInFlight[];
  readonly settled: State['settled'];
  readonly decisions: number;
}

type ChoiceState = Pick<State, 'evictions' | 'settled' | 'decisions' | 'failedKills' | 'thresholdsMet'>;

/** At most one victim per resource and step, for thresholds that have been met for their grace period and were read anew. */
export function choose(
  policy: Policy,
  state: ChoiceState,
  thresholds: readonly Threshold[],
  observations: Observations,
  candidates: () => Candidates,
  nowNs: bigint,
): Choice {
  const effects: Effect[] = [];
  const settled = new Map(state.settled);
  const decided = new Set<Resource>(); // in a dry run nothing is in flight that would say so
  let evictions = state.evictions;
  let decisions = state.decisions;
  for (const threshold of [...thresholds].sort(byEvictionPriority)) {
    const observation = observations.observed.get(threshold.signal);
    if (observation === undefined) continue;
    const id = thresholdId(threshold);
    const { resource, evictable } = SIGNAL_FACTS[threshold.signal];
    const alert = (kind: AlertKind): void => {
      if (!settled.has(`${kind} ${id}`)) effects.push({ kind: 'alert', alert: kind, threshold, observation });
      settled.set(`${kind} ${id}`, id);
    };
    if (!evictable) {
      alert('signal-not-evictable');
    } else if (!policy.hasWorkloadSource) {
      alert('no-workload-source');
    } else if (settled.has(`decided ${id}`)) {
      decided.add(resource);
    } else if (!decided.has(resource) && !evictions.some((eviction) => eviction.decision.resource === resource)) {
      let found = candidates();
      let { ranking, victim } = selectVictim(found, state.failedKills, nowNs);
      if (ranking.some(({ protection }) => protection?.kind === 'gone')) {
        found = candidates();
        ({ ranking, victim } = selectVictim(found, state.failedKills, nowNs));
      }
      if (victim === undefined) {
        alert('nothing-evictable');
        continue;
      }
      decisions += 1;
      const decision: Decision = {
        serial: decisions,
        resource,
        threshold,
        observation,
        limit: limitOf(threshold, observation, state.thresholdsMet),
        victim,
        graceNs: graceNs(policy, threshold, victim),
        ranking,
        unreadable: found.unreadable,
        decidedAtNs: nowNs,
        dryRun: policy.dryRun,
      };
      effects.push({ kind: 'evict', decision });
      decided.add(resource);
      if (policy.dryRun) settled.set(`decided ${id}`, id);
      else evictions = [...evictions, inFlight(decision)];
    }
  }
  return { effects, evictions, settled, decisions };
}

/** The order of eviction, with those passed over on the way to the victim, and the victim; undefined: nobody may be evicted. */
function selectVictim(
  found: Candidates,
  failedKills: State['failedKills'],
  nowNs: bigint,
): { ranking: readonly RankedWorkload[]; victim: RankedWorkload | undefined } {
  const ranking = rankMemoryPressure(found);
  for (const [index, ranked] of ranking.entries()) {
    if (ranked.protection !== undefined) continue;
    const protection = passedOver(ranked, found, failedKills, nowNs);
    if (protection === undefined) return { ranking, victim: ranked };
    ranking[index] = { ...ranked, protection };
  }
  return { ranking, victim: undefined };
}

function passedOver(
  { workload }: RankedWorkload,
  found: Candidates,
  failedKills: State['failedKills'],
  nowNs: bigint,
): Protection | undefined {
  const untilNs = failedKills.get(workload.id);
  if (untilNs !== undefined && nowNs < untilNs) return { kind: 'kill-failed' };
  return found.veto?.(workload);
}

/** Hard: none. Soft: the smaller of evictionMaxPodGracePeriod and the workload's own. */
function graceNs(policy: Policy, threshold: Threshold, victim: RankedWorkload): bigint {
  if (thresholdKind(threshold) === 'hard') return 0n;
  const own = victim.workload.terminationGracePeriodNs;
  return own !== undefined && own < policy.maxPodGracePeriodNs ? own : policy.maxPodGracePeriodNs;
}

function limitOf(threshold: Threshold, observation: Observation, repaying: readonly Threshold[]): bigint {
  const owed = threshold.minReclaim !== undefined && repaying.some((other) => thresholdId(other) === thresholdId(threshold));
  return resolve(threshold.value, observation.capacity) + (owed ? resolve(threshold.minReclaim, observation.capacity) : 0n);
}
