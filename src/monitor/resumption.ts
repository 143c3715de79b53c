import type { EvictionInFlight } from '../core/eviction.js';
import { protectionText } from '../core/rank.js';
import type { Candidates, Workload } from '../core/workload.js';
import type { RestoredState } from './inheritance.js';
import type { Victims } from './victims.js';

/** Goes on with the evictions in flight of the evictd before, as far as the configuration of now lets it. Returns whether they are to be reconsidered. */
export function resume(victims: Victims, { state, signals, abandoned }: RestoredState, candidates: Candidates): boolean {
  for (const eviction of state.evictions) {
    const { serial, victim } = eviction.decision;
    victims.resume(eviction, signals.get(serial), abandoned.get(serial) ?? objectionTo(victim.workload, candidates));
  }
  return isUntold(state.evictions, candidates);
}

/** Lets go of whom the configuration of now, which another evictd would begin with, says not to evict, and whom no SIGKILL has reached. Returns whether they are to be reconsidered. */
export function reconsider(victims: Victims, evictions: readonly EvictionInFlight[], candidates: () => Candidates): boolean {
  const terminating = evictions.filter(({ phase }) => phase === 'terminating');
  if (terminating.length === 0) return false;
  const found = candidates();
  for (const { decision } of terminating) {
    const objection = objectionTo(decision.victim.workload, found);
    if (objection !== undefined) victims.abandon(decision.serial, objection);
  }
  return isUntold(terminating, found);
}

/** Whether it is open what a configuration says to some of them: their container runtimes have not told of them yet, or their names are being looked up. */
function isUntold(evictions: readonly EvictionInFlight[], { usages, awaitedRuntimes = [] }: Candidates): boolean {
  return evictions.some(({ decision: { victim } }) => {
    const { id, runtime } = victim.workload;
    if (runtime && awaitedRuntimes.includes(runtime.endpoint)) return true;
    return usages.some(({ workload }) => workload.id === id && workload.protection?.kind === 'untold');
  });
}

/** It may have become critical, or its source may have left the configuration. Who has gone meanwhile needs no objection. */
function objectionTo({ id, path, runtime }: Workload, { usages, unreadable, vacant, awaitedRuntimes }: Candidates): string | undefined {
  const found = [...usages, ...(vacant?.() ?? [])].find(({ workload }) => workload.id === id);
  const protection = found?.workload.protection;
  if (protection && protection.kind !== 'untold') return `it may not be evicted any more: ${protectionText(protection)}`;
  if (found !== undefined || unreadable.some((workload) => workload.path === path)) return undefined;
  if (runtime && awaitedRuntimes?.includes(runtime.endpoint)) return undefined;
  return 'no workload source names it any more';
}
