import { budgetChangesNs } from '../budget/eviction-budget.js';
import { drainDueNs } from '../drain/drain.js';
import { evictionDueNs } from '../reclaim/eviction-deadline.js';
import { pauseEndNs } from '../reclaim/pause-relief.js';
import { yieldClosesNs } from '../reclaim/eviction-yield.js';
import { episodeEndNs } from '../threshold/reported-episode.js';
import { graceEndNs } from '../threshold/grace-period.js';
import { countsFromNs } from '../threshold/averaging-window.js';
import { SIGNAL_FACTS, type Signal } from '../signal/signal.js';
import { passedOverUntil, type Policy, type State } from './state.js';

/** How often candidates are read again while a threshold could evict nothing. */
const RECHECK_NS = 1_000_000_000n;

/**
 * When the next step is due without any event: a grace period, condition or pause ends, or a victim must be read.
 * undefined: nothing is waiting. Policies have times of their own (policy-deadline.ts).
 */
export function dueAtNs(policy: Policy, state: State, nowNs: bigint): bigint | undefined {
  let due: bigint | undefined;
  const wait = (timeNs: bigint): void => {
    if (due === undefined || timeNs < due) due = timeNs;
  };
  const waitIfAhead = (timeNs: bigint): void => {
    if (timeNs > nowNs) wait(timeNs);
  };
  for (const threshold of state.episodes.values()) waitIfAhead(graceEndNs(threshold, state.firstObservedAt, nowNs));
  for (const episode of state.reported.values()) waitIfAhead(episodeEndNs(episode) ?? nowNs);
  for (const type of state.conditions) {
    waitIfAhead((state.conditionsLastObservedAt.get(type) ?? nowNs) + policy.pressureTransitionPeriodNs);
  }
  for (const threshold of state.thresholdsMet) {
    waitIfAhead(countsFromNs(threshold, policy, state) ?? nowNs);
    const { resource } = SIGNAL_FACTS[threshold.signal];
    if (resource !== undefined) waitIfAhead(budgetChangesNs(policy, state.evictionTimes, resource, nowNs) ?? nowNs);
  }
  for (const sinceNs of state.relievedSince.values()) waitIfAhead(pauseEndNs(sinceNs));
  for (const untilNs of passedOverUntil(state, true).values()) waitIfAhead(untilNs);
  for (const { untilNs } of state.held.values()) if (untilNs !== undefined) waitIfAhead(untilNs);
  for (const eviction of state.evictions) wait(yieldClosesNs(eviction) ?? evictionDueNs(eviction, policy.departures['node-yield'], nowNs));
  if (policy.hasWorkloadSource && state.thresholdsMet.some(({ signal }) => isEvictable(policy, signal))) {
    wait(nowNs + RECHECK_NS);
  }
  waitIfAhead(drainDueNs(state.drain) ?? nowNs); // a drain that is due looks in this step
  return due;
}

export function soonest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}

function isEvictable({ evictable }: Policy, signal: Signal): boolean {
  const { resource } = SIGNAL_FACTS[signal];
  return resource !== undefined && evictable.has(resource);
}
