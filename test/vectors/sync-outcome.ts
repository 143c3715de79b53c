import type { Effect } from '../../src/core/decide/effect.js';
import type { Decision } from '../../src/core/decide/eviction.js';
import { evictionMessage } from './kubelet/eviction-message.js';
import type { State } from '../../src/core/decide/state.js';
import { breachCounter } from './kubelet/evictions-counter.js';
import type { PodCondition } from '../../src/core/workload/workload.js';
import { eventOf } from './kubelet/event.js';
import { evictedStatus } from './kubelet/status.js';
import type { Timeline } from './sync-timeline.js';

/** What a step came to, in the words of the vectors. */
export function outcomeOf(effects: readonly Effect[], state: State, timeline: Timeline): Readonly<Record<string, unknown>> {
  const decisions = effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));
  const errors = effects.flatMap((effect) => (effect.kind === 'error' ? [effect.message] : []));
  return {
    error: errors[0] ?? null,
    nodeConditions: [...state.conditions].sort(),
    evicted: decisions.map(({ victim }) => victim.workload.name),
    kills: decisions.map(killOf),
    events: effects.flatMap((effect) => eventOf(effect, timeline.nodeName) ?? []),
    gc: timeline.collected,
    evictionCounts: countsOf(decisions),
    summaryReads: timeline.reads,
  };
}

function killOf(decision: Decision): Readonly<Record<string, unknown>> {
  const { workload } = decision.victim;
  const { message } = evictionMessage(decision);
  const status = evictedStatus(workload, message, decision.cause.kind === 'threshold');
  return {
    pod: workload.name,
    gracePeriodSeconds: decision.graceNs / 1_000_000_000n,
    status: { ...status, conditions: status.conditions.map(withoutZero) },
  };
}

/** As JSON leaves it out. */
function withoutZero({ observedGeneration, ...rest }: PodCondition): Readonly<Record<string, unknown>> {
  return observedGeneration === 0n ? rest : { ...rest, observedGeneration };
}

function countsOf(decisions: readonly Decision[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { cause } of decisions) {
    if (cause.kind === 'policy' || cause.kind === 'disruption') throw new Error('the kubelet has no policies and no disruptions');
    const counter = cause.kind === 'threshold' ? cause.threshold.signal : breachCounter(cause.breach);
    counts[counter] = (counts[counter] ?? 0) + 1;
  }
  return counts;
}
