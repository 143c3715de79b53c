import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { nodeMemory } from '../reclaim/node-yield.js';
import { measureAll } from '../rank/victim-selection.js';
import type { WorkloadStats } from '../workload/workload.js';
import { ancestorsOf, evictionBase, memoryBase, withBase } from './growth-base.js';

/**
 * Adds the base of an eviction for memory in flight: in the step after its signal, so that no signal waits for it. A
 * threshold's decision has ranked all workloads. Those of which it has only an upper bound are measured now; all, if a
 * policy has decided, which ranks those of its scope.
 */
export function withEvictionBase({ departures, hasWorkloadSource }: Policy, state: State, input: StepInput): State {
  const decision = state.evictions.findLast((eviction) => eviction.decision.resource === 'memory')?.decision;
  if (decision === undefined || nodeMemory(decision.cause) === undefined || memoryBase(state.baselines) !== undefined) return state;
  if (!hasWorkloadSource || !(departures.budget || departures['no-yield'])) return state;
  const { ranking, cause } = decision;
  const isPartial = cause.kind === 'policy' || ranking.some(({ stats }) => stats?.workingSetAtMost);
  const made = evictionBase(decision, isPartial ? measuredNow(input) : new Map(), input.outside?.(ancestorsOf(ranking)));
  return made === undefined ? state : { ...state, baselines: withBase(state.baselines, made.signal, made.base) };
}

function measuredNow({ candidates }: StepInput): ReadonlyMap<string, WorkloadStats | undefined> {
  const found = candidates();
  measureAll(found);
  return new Map(found.usages.map(({ workload, stats }) => [workload.path, stats]));
}
