import { evictIfPossible, type Chosen, type ChoiceContext } from '../rank/eviction-attempt.js';
import type { Effect } from '../decide/effect.js';
import { relieved } from './eviction-yield.js';
import { joined, type Joined } from '../threshold/joined-readings.js';
import type { Observation, Observations } from '../signal/observation.js';
import { collectedAfter, type Reclaim, type ReclaimReading } from './reclaim.js';
import { pauseFor } from './yield-pause.js';
import { mayActOn } from '../decide/shutdown-eviction.js';
import { SIGNAL_FACTS } from '../signal/signal.js';
import { thresholdsMet, type Threshold } from '../threshold/threshold.js';

/**
 * Continues after node-level reclaim (kubelet: reclaimNodeLevelResources): evicts only if it was not enough. It is
 * judged with min reclaim and without grace periods, by the reclaimed signal, or by every threshold as in the kubelet
 * (departure reclaim-scope). An unreadable node counts as not relieved.
 *
 * @param thresholds  all that are configured
 */
export function afterReclaim(
  context: Omit<ChoiceContext, 'observations'>,
  before: Chosen,
  thresholds: readonly Threshold[],
  reclaim: Reclaim,
  reading: ReclaimReading,
  observations: Observations | undefined,
): Chosen {
  const ownOnly = context.policy.departures['reclaim-scope'];
  const judged = ownOnly ? thresholds.filter(({ signal }) => signal === reclaim.threshold.signal) : thresholds;
  const enough = observations !== undefined && thresholdsMet(judged, observations, true).length === 0;
  const effects: readonly Effect[] = [...before.effects, { kind: 'reclaimed', reclaim, enough, ...reading }];
  const { signal } = reclaim.threshold;
  const value = observations?.observed.get(signal)?.available ?? reclaim.observation.available;
  const collectedAt = collectedAfter(before.collectedAt, signal, reading, value);
  const done: Chosen = { ...before, effects, reclaiming: undefined, collectedAt };
  // A hard threshold did not wait for this, and its eviction may have been enough.
  const { resource } = SIGNAL_FACTS[signal];
  const isRelieved = done.evictions.some(({ decision }) => relieved(decision).includes(resource));
  // … or not, and then evictions for this signal wait: the step that follows decides.
  const isPaused = pauseFor(signal, done.withoutYield) !== undefined;
  if (enough || isRelieved || isPaused || !mayActOn(context.policy, reclaim.threshold)) return done;
  const candidates = reclaim.candidates;
  return evictIfPossible(
    context,
    done,
    { threshold: reclaim.threshold, observation: latest(reclaim, observations, ownOnly), ...latestJoined(reclaim, observations, ownOnly) },
    candidates ? () => candidates : context.candidates,
    true,
  );
}

/** The kubelet's message and ranking use the reading before. */
function latest({ threshold, observation }: Reclaim, observations: Observations | undefined, fresh: boolean): Observation {
  return (fresh ? observations?.observed.get(threshold.signal) : undefined) ?? observation;
}

function latestJoined({ threshold, observations: before }: Reclaim, observations: Observations | undefined, fresh: boolean): Joined {
  return joined(threshold, fresh && observations !== undefined ? observations : before);
}
