import { updateContainerFsThresholds } from './containerfs.js';
import type { StepInput } from './step-input.js';
import type { Layout } from '../signal/layout.js';
import { counting } from '../threshold/averaging-window.js';
import { SIGNAL_FACTS } from '../signal/signal.js';
import type { Policy, State } from './state.js';
import { thresholdKind, thresholdsMet, type Threshold } from '../threshold/threshold.js';

/** Hard thresholds that end the grace period of an eviction that evictd waits for (departure hard-preempts-soft). */
export function hardWhileWaiting(policy: Policy, state: State, layout: Layout, input: StepInput): ReadonlySet<string> {
  const { departures, thresholds } = policy;
  if (!departures['hard-preempts-soft'] || !state.evictions.some(({ phase }) => phase === 'terminating')) return new Set();
  const observations = input.observe();
  if (observations === undefined) return new Set();
  const met = thresholdsMet(updateContainerFsThresholds(thresholds, layout).thresholds, observations, false);
  return hardResources(
    counting(
      met.filter(({ gracePeriodNs }) => gracePeriodNs === 0n),
      policy,
      state,
      input.nowNs,
    ),
  );
}

/** The resources with a hard threshold that is due (departure hard-preempts-soft). */
export function hardResources(due: readonly Threshold[]): ReadonlySet<string> {
  return resourcesOf(due.filter((threshold) => thresholdKind(threshold) === 'hard'));
}

export function resourcesOf(thresholds: readonly Threshold[]): ReadonlySet<string> {
  return new Set(thresholds.flatMap(({ signal }) => SIGNAL_FACTS[signal].resource ?? []));
}
