import { updateContainerFsThresholds } from './containerfs.js';
import type { StepInput } from './input.js';
import type { Layout } from './layout.js';
import { SIGNAL_FACTS } from './signal.js';
import type { Policy, State } from './state.js';
import { thresholdKind, thresholdsMet, type Threshold } from './threshold.js';

/** Where one eviction at a time is waited for, a hard threshold still ends its grace. */
export function hardWhileWaiting(
  { departures, thresholds }: Policy,
  { evictions }: State,
  layout: Layout,
  input: StepInput,
): ReadonlySet<string> {
  if (!departures['hard-preempts-soft'] || !evictions.some(({ phase }) => phase === 'terminating')) return new Set();
  const observations = input.observe();
  if (observations === undefined) return new Set();
  return hardResources(thresholdsMet(updateContainerFsThresholds(thresholds, layout).thresholds, observations, false));
}

/** The resources of which a hard threshold is met (departure hard-preempts-soft). */
export function hardResources(met: readonly Threshold[]): ReadonlySet<string> {
  return new Set(met.filter((threshold) => thresholdKind(threshold) === 'hard').map(({ signal }) => SIGNAL_FACTS[signal].resource));
}
