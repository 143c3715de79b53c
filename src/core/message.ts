import { amountOf, amountOfBytes, counted } from './amount.js';
import { formatDuration } from './duration.js';
import type { AlertKind, Effect } from './effect.js';
import type { Decision, Outcome } from './eviction.js';
import type { Observation } from './observation.js';
import { describeRanked } from './rank.js';
import { SIGNAL_FACTS } from './signal.js';
import type { StorageBreach } from './storage-limit.js';
import { resolve, thresholdKind, thresholdMet, valueText, type Threshold } from './threshold.js';

/** 'memory.available 11.8MiB < 100Mi (hard)'. */
export function comparisonText(threshold: Threshold, observation: Observation): string {
  const { signal, value } = threshold;
  const limit = value.kind === 'percentage' ? ` = ${amountOf(signal, resolve(value, observation.capacity))}` : '';
  return `${signal} ${amountOf(signal, observation.available)} < ${valueText(value)}${limit} (${thresholdKind(threshold)})`;
}

/** 'evicting batch with SIGKILL: memory.available 11.8MiB < 100Mi (hard); batch uses 200MiB, has no request, priority -10'. */
export function decisionMessage(decision: Decision): string {
  const { cause, resource, victim, graceNs, dryRun } = decision;
  const how = graceNs > 0n ? `SIGTERM, ${formatDuration(graceNs)} later SIGKILL` : 'SIGKILL';
  const { name } = victim.workload;
  const why = cause.kind === 'threshold' ? comparisonText(cause.threshold, cause.observation) : breachText(cause.breach);
  return `${dryRun ? 'dry run: would evict' : 'evicting'} ${name} with ${how}: ${why}; ${name} ${describeRanked(victim, resource)}`;
}

/** 'its emptyDir volume cache is over its limit of 1Gi'. */
export function breachText(breach: StorageBreach): string {
  const limit = breach.limit.text;
  switch (breach.kind) {
    case 'emptyDir':
      return `its emptyDir volume ${breach.volume} is over its limit of ${limit}`;
    case 'pod':
      return `its local storage is over the limit of ${limit} for all its containers`;
    case 'container':
      return `the local storage of its container ${breach.container} is over its limit of ${limit}`;
  }
}

export function outcomeMessage(outcome: Outcome): string {
  const { decision, freedBytes, expectedBytes, processesLeft, error } = outcome;
  const { name } = decision.victim.workload;
  const node = nodeText(outcome);
  switch (outcome.result) {
    case 'killed':
      return decision.resource === 'memory'
        ? `evicted ${name}: it gave back ${amountOfBytes(freedBytes)}${node}`
        : `evicted ${name}${node}`;
    case 'ineffective':
      return `evicted ${name}, but it gave back only ${amountOfBytes(freedBytes)} of the ${amountOfBytes(expectedBytes)} that it used${node}`;
    case 'failed': {
      const left = processesLeft === undefined ? 'an unknown number of processes' : counted(BigInt(processesLeft), 'processes');
      return `could not evict ${name}: ${error ?? `${left} left after the kill`}`;
    }
    case 'vanished':
      return `${name} was gone before it was evicted${node}`;
  }
}

/** '; memory.available 11.8MiB → 200MiB'. */
function nodeText({ decision: { cause }, nodeAfter }: Outcome): string {
  if (cause.kind !== 'threshold' || nodeAfter === undefined) return '';
  const { signal } = cause.threshold;
  return `; ${signal} ${amountOf(signal, cause.observation.available)} → ${amountOf(signal, nodeAfter.available)}`;
}

export function alertMessage(alert: AlertKind, threshold: Threshold, observation: Observation): string {
  const met = comparisonText(threshold, observation);
  switch (alert) {
    case 'signal-not-evictable':
      return `${met}: no workload is known to give ${SIGNAL_FACTS[threshold.signal].resource} back, so none is evicted`;
    case 'no-workload-source':
      return `${met}: nothing is evicted, because no workload source is configured`;
    case 'nothing-evictable':
      return `${met}: there is no workload that may be evicted`;
    case 'no-yield':
      return `${met}: the last eviction gave nothing back, so nobody else is evicted until this value changes`;
  }
}

/** The sentence of a threshold's beginning or ended episode. It may end though it is still met: where a reload took the threshold away. */
export function thresholdMessage({ threshold, met, observation }: Extract<Effect, { kind: 'threshold' }>): string {
  const { signal, value, gracePeriodNs } = threshold;
  if (!met) {
    const limit = `${valueText(value)} (${thresholdKind(threshold)})`;
    if (observation === undefined) return `${signal} has no reading any more: whether it is below ${limit} is not known`;
    const available = `${amountOf(signal, observation.available)} available`;
    return thresholdMet(threshold, observation, false)
      ? `${signal} is not held to ${limit} any more: ${available}`
      : `${signal} is back above ${limit}: ${available}`;
  }
  const grace = gracePeriodNs > 0n ? `; evicting if it holds for ${formatDuration(gracePeriodNs)}` : '';
  return observation ? comparisonText(threshold, observation) + grace : `${signal} cannot be read`;
}
