import { evict, type Chosen, type ChoiceContext } from './choice.js';
import type { Effect } from './effect.js';
import { joined, type Joined } from './joined.js';
import type { Observation, Observations } from './observation.js';
import type { Reclaim, ReclaimReading } from './reclaim.js';
import { thresholdsMet, type Threshold } from './threshold.js';

/**
 * Goes on after node-level reclaim (kubelet: reclaimNodeLevelResources): where it was enough nobody is evicted.
 *
 * Judged with the min reclaim and without grace periods: on the signal that was reclaimed, or, as the kubelet does, on every threshold (departure
 * reclaim-scope). A node that cannot be read again has not been relieved.
 *
 * @param thresholds  all that are configured
 */
export function afterReclaim(
  context: Omit<ChoiceContext, 'observations'>,
  before: Chosen,
  thresholds: readonly Threshold[],
  reclaim: Reclaim,
  { errors }: ReclaimReading,
  observations: Observations | undefined,
): Chosen {
  const ownOnly = context.policy.departures['reclaim-scope'];
  const judged = ownOnly ? thresholds.filter(({ signal }) => signal === reclaim.threshold.signal) : thresholds;
  const enough = observations !== undefined && thresholdsMet(judged, observations, true).length === 0;
  const effects: readonly Effect[] = [...before.effects, { kind: 'reclaimed', reclaim, enough, errors }];
  const done: Chosen = { ...before, effects, reclaiming: undefined };
  if (enough) return done;
  const candidates = reclaim.candidates;
  return evict(
    context,
    done,
    { threshold: reclaim.threshold, observation: latest(reclaim, observations, ownOnly), ...latestJoined(reclaim, observations, ownOnly) },
    candidates ? () => candidates : context.candidates,
    true,
  );
}

/** The kubelet's message and ranking are of the reading before. */
function latest({ threshold, observation }: Reclaim, observations: Observations | undefined, fresh: boolean): Observation {
  return (fresh ? observations?.observed.get(threshold.signal) : undefined) ?? observation;
}

function latestJoined({ threshold, observations: before }: Reclaim, observations: Observations | undefined, fresh: boolean): Joined {
  return joined(threshold, fresh && observations !== undefined ? observations : before);
}
