import { API_SERVER } from '../core/kubernetes/kubernetes-part.js';
import type { EvictionInFlight } from '../core/decide/eviction.js';
import { protectionText } from '../core/rank/rank.js';
import { isAwaited, type Candidates, type Workload } from '../core/workload/workload.js';
import type { RestoredState } from '../state/saved-state.js';
import type { Victims } from './victims.js';

/**
 * Continues the evictions in flight of the previous evictd, as far as the configuration permits. Returns whether that has
 * to be checked again.
 */
export function resume(victims: Victims, { state, signals, abandoned }: RestoredState, candidates: Candidates): boolean {
  for (const eviction of state.evictions) {
    const { serial, victim } = eviction.decision;
    victims.resume(eviction, signals.get(serial), objectionTo(victim.workload, candidates) ?? abandoned.get(serial));
  }
  return isUndecided(state.evictions, candidates);
}

/**
 * Abandons evictions that the configuration does not permit any more, unless SIGKILL was sent. Returns whether that has
 * to be checked again.
 */
export function reconsider(victims: Victims, evictions: readonly EvictionInFlight[], candidates: () => Candidates): boolean {
  const terminating = evictions.filter(({ phase }) => phase === 'terminating');
  if (terminating.length === 0) return false;
  const found = candidates();
  for (const { decision } of terminating) {
    const objection = objectionTo(decision.victim.workload, found);
    if (objection !== undefined) victims.abandon(decision.serial, objection);
  }
  return isUndecided(terminating, found);
}

/**
 * Whether it is unknown what the configuration says about some of them: their container runtime has not answered, or a
 * name lookup is under way.
 */
function isUndecided(evictions: readonly EvictionInFlight[], { usages, awaitedRuntimes = [] }: Candidates): boolean {
  return evictions.some(({ decision: { victim } }) => {
    const { id } = victim.workload;
    if (isUnreported(victim.workload, awaitedRuntimes)) return true;
    return usages.some(({ workload }) => workload.id === id && isAwaited(workload.protection));
  });
}

/**
 * Why the workload may not be evicted any more: it may have become critical, or its source may have left the
 * configuration. A workload that has ended needs no objection.
 */
function objectionTo(workload: Workload, { usages, unreadable, vacant, awaitedRuntimes }: Candidates): string | undefined {
  const { id, path } = workload;
  const found = [...usages, ...(vacant?.() ?? [])].find(({ workload }) => workload.id === id);
  const protection = found?.workload.protection;
  if (protection && !isAwaited(protection)) return `it may not be evicted any more: ${protectionText(protection)}`;
  if (found !== undefined || unreadable.some((one) => one.path === path)) return undefined;
  if (isUnreported(workload, awaitedRuntimes)) return undefined;
  return 'no workload source includes it any more';
}

function isUnreported({ runtime, kubernetes }: Workload, awaited: readonly string[] = []): boolean {
  const endpoint = kubernetes ? API_SERVER : runtime?.endpoint;
  return endpoint !== undefined && awaited.includes(endpoint);
}
