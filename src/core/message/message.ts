import type { ExhaustedBudget } from '../budget/eviction-budget.js';
import type { Leak } from '../budget/growth.js';
import { growthText } from '../budget/memory-growth.js';
import { swapText } from '../budget/swap-holders.js';
import { amountOf, amountOfBytes, amountOfResource, counted } from '../quantity/amount.js';
import { holdersText } from '../disk/disk-holder.js';
import { ofResource } from '../disk/disk-holding.js';
import { formatDuration, NS_PER_SECOND } from '../quantity/duration.js';
import type { Effect } from '../decide/effect.js';
import type { Decision, Outcome } from '../decide/eviction.js';
import { nodeBefore, swapToFree } from '../rank/eviction-cause.js';
import type { Joined } from '../threshold/joined-readings.js';
import type { Observation } from '../signal/observation.js';
import { describeVictim } from '../rank/rank.js';
import { isDiskSignal, operatorOf, SIGNAL_FACTS } from '../signal/signal.js';
import type { StorageBreach } from '../disk/storage-limit.js';
import {
  isListed,
  isResourceThreshold,
  resolve,
  thresholdKind,
  thresholdMet,
  valueText,
  whenText,
  type Operand,
  type Threshold,
} from '../threshold/threshold.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';
import { victimName } from '../workload/process.js';
import { policyReasonText } from './policy-message.js';
import { stopMethodText, stoppedText, stormText, unitText } from './unit-message.js';

/** The readings of a threshold and its joined operands. */
export interface ThresholdReading extends Joined {
  readonly threshold: Threshold;
  readonly observation: Observation;
}

/**
 * 'memory.available 11.8MiB < 100Mi (hard)', 'memory.available 11.8MiB < 100Mi & memory.pressure.full 45.2% > 40%
 * (soft)'.
 */
export function comparisonText({ threshold, observation, joined = [] }: ThresholdReading): string {
  const operands = [
    operandComparison(threshold, observation),
    ...joined.map((other) => operandComparison(other.operand, other.observation)),
  ];
  return `${operands.join(' & ')} (${thresholdKind(threshold)})`;
}

function operandComparison({ signal, value }: Operand, observation: Observation | undefined): string {
  const compared = `${operatorOf(signal)} ${valueText(value)}`;
  if (observation === undefined) return `${signal} not read ${compared}`;
  const limit = value.kind === 'percentage' ? ` = ${amountOf(signal, resolve(value, observation.capacity))}` : '';
  const { available, standIn } = observation;
  return `${signal}${standIn === undefined ? '' : ` (${standIn})`} ${amountOf(signal, available)} ${compared}${limit}`;
}

/**
 * 'evicting batch with SIGKILL: memory.available 11.8MiB < 100Mi (hard); batch uses 200MiB, has no request, priority
 * -10'.
 */
export function decisionMessage(decision: Decision): string {
  const { cause, resource, victim, dryRun, standingOrder } = decision;
  const name = victimName(victim);
  const why = causeText(cause, comparisonText);
  const again = decision.repeats ? '; it was evicted before and has grown again, so the budget counts it once' : '';
  return `${dryRun ? 'dry run: would evict' : 'evicting'} ${name} with ${stopMethodText(decision)}${standingOrder ? ' by standing order' : ''}: ${why}; ${name} ${describeVictim(victim, resource)}${unitText(decision)}${again}${violationText(decision)}`;
}

/** '; violates the disruption budget web, which node pressure does not respect'. A preemption violates one where it has to. */
function violationText({ violates = [], cause }: Decision): string {
  if (violates.length === 0) return '';
  const text = `; violates the disruption budget${violates.length > 1 ? 's' : ''} ${violates.join(', ')}`;
  if (cause.kind !== 'disruption') return `${text}, which node pressure does not respect`;
  if (cause.reason === 'preemption') return `${text}: what the budgets permit is not enough`;
  return `${text}, which a disruption by ${cause.reason} does not respect`;
}

/** The message without current values, which are not known when an order is prepared. */
export function standingOrderMessage(decision: Decision): string {
  const { cause, victim } = decision;
  const why = causeText(cause, ({ threshold }) => whenText(threshold));
  return `evicting ${victim.workload.name} with ${stopMethodText(decision)} by standing order: ${why}`;
}

function causeText(cause: Decision['cause'], thresholdText: (cause: ThresholdCause) => string): string {
  switch (cause.kind) {
    case 'threshold':
      return thresholdText(cause);
    case 'storage-limit':
      return breachText(cause.breach);
    case 'policy':
      return policyReasonText(cause);
    case 'disruption':
      return cause.message;
  }
}

/** 'its emptyDir volume cache is over its limit of 1Gi'. */
function breachText(breach: StorageBreach): string {
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
  const { decision, freedBytes, processesLeft, error } = outcome;
  const name = victimName(decision.victim);
  const node = nodeText(outcome) + stoppedText(outcome) + laterText(outcome);
  switch (outcome.result) {
    case 'killed':
      return decision.resource === 'memory'
        ? `evicted ${name}: freed ${amountOfBytes(freedBytes)}${ofSwap(decision)}${node}`
        : `evicted ${name}${node}${holdingText(decision)}`;
    case 'ineffective':
      return `evicted ${name}: ${littleText(outcome)}${node}`;
    case 'failed': {
      const left = processesLeft === undefined ? 'an unknown number of processes' : counted(BigInt(processesLeft), 'processes');
      return `could not evict ${name}: ${error ?? `${left} left after the kill`}`;
    }
    case 'vanished':
      return `${name} ended before it was evicted${node}`;
    case 'abandoned':
      return `eviction of ${name} abandoned: ${outcome.abandoned ?? 'evictd ended before it was over'}${node}`;
  }
}

/** '; its processes ended; systemd still runs 4711 (rm) in its cgroup'. */
function laterText({ later, decision: { victim } }: Outcome): string {
  if (later === undefined) return '';
  const runs = victim.workload.unit === undefined ? 'its cgroup has a new one,' : 'systemd still runs';
  return `; its processes ended; ${runs} ${String(later.pid)} (${later.name})${victim.workload.unit === undefined ? '' : ' in its cgroup'}`;
}

/** 'the node got back only 1MiB of 200MiB: memory stays that outlives its processes, such as files on a tmpfs'. */
function littleText({ freedBytes, expectedBytes, nodeFreedBytes, notFreed, decision }: Outcome): string {
  const { victim } = decision;
  if (expectedBytes === 0n && freedBytes === 0n) return 'it used no memory that its end frees';
  if (nodeFreedBytes === undefined)
    return `freed only ${amountOfBytes(freedBytes)} of the ${amountOfBytes(expectedBytes)}${ofSwap(decision)} that it used`;
  const back = amountOfBytes(nodeFreedBytes > 0n ? nodeFreedBytes : 0n);
  if (notFreed === 'taken') return `it freed ${amountOfBytes(freedBytes)}, and the node got back only ${back}: the rest is in use again`;
  const held = amountOfBytes(expectedBytes + (victim.stays ?? 0n));
  const why = notFreed === 'stays' ? ': memory stays that outlives its processes, such as files on a tmpfs' : '';
  return `the node got back only ${back} of ${held}${why}`;
}

function ofSwap(decision: Decision): string {
  return swapToFree(decision) === undefined ? '' : ' of swap';
}

/** ' (it held 2GiB there)'. */
function holdingText({ resource, victim: { holding } }: Decision): string {
  if (holding === undefined) return '';
  return ` (it held ${amountOfResource(resource, ofResource(resource, holding.frees))} there)`;
}

/** '; memory.available 11.8MiB → 200MiB'. */
function nodeText({ decision: { cause }, nodeAfter }: Outcome): string {
  const before = nodeBefore(cause);
  if (before === undefined || nodeAfter === undefined) return '';
  const { signal, observation } = before;
  return `; ${signal} ${amountOf(signal, observation.available)} → ${amountOf(signal, nodeAfter.available)}`;
}

type Alert = ThresholdReading &
  Pick<Extract<Effect, { kind: 'alert' }>, 'alert' | 'decision' | 'holders' | 'budget' | 'leak' | 'growth' | 'swap' | 'pause'>;

/** Why nothing is evicted, and what has grown. */
export function alertMessage(alert: Alert): string {
  const grown = alert.growth === undefined ? '' : growthText(alert.growth);
  const swapped = alert.swap === undefined ? '' : swapText(alert.swap);
  return [reasonText(alert), grown, swapped].filter((text) => text !== '').join('; ');
}

function reasonText({ alert, ...reading }: Alert): string {
  const { threshold, decision, holders = [], budget, leak, pause } = reading;
  const met = comparisonText(reading);
  switch (alert) {
    case 'signal-not-evictable':
      return `${met}: evicting workloads does not free ${SIGNAL_FACTS[threshold.signal].resource ?? 'it'}, so none is evicted`;
    case 'no-workload-source':
      return `${met}: nothing is evicted, because no workload source is configured`;
    case 'nothing-evictable':
      return isDiskSignal(threshold.signal)
        ? `${met}: no evictable workload would free anything there${holders.length > 0 ? `; ${holdersText(holders)}` : ''}`
        : `${met}: no workload may be evicted`;
    case 'no-yield':
      return `${met}: the last eviction freed too little; evictd evicts nothing more until the shortage eases, or a workload that would free enough has grown`;
    case 'budget-exhausted':
      return `${met}: ${budget === undefined ? 'the eviction budget is used up' : budgetText(budget)}`;
    case 'safe-mode':
      return `${met}: nothing is evicted, because evictd is in safe mode after several crashes`;
    case 'paused':
      return `${met}: an operator has paused evictions${pause === undefined ? '' : ` (${pause.reason}); ${wouldEvictText(pause.wouldEvict)}`}`;
    case 'leak-elsewhere':
      return `${met}: ${leak === undefined ? 'no eviction can cure it' : leakText(leak)}`;
    case 'alert-only':
      return `${met}: nothing is evicted, because this signal does not identify the workload that causes the pressure`;
    case 'restart-storm':
      return `${met}: ${decision === undefined ? 'a unit' : stormText(decision)}`;
  }
}

/** 'without the pause evictd would evict batch with SIGKILL, which uses 200MiB, has no request, priority -10'. */
function wouldEvictText(decision: Decision): string {
  const { victim, resource } = decision;
  return `without the pause evictd would evict ${victim.workload.name} with ${stopMethodText(decision)}, which ${describeVictim(victim, resource)}`;
}

/** 'the eviction budget is used up: 5 evictions in 10m0s; evictd evicts nothing more for 4m10s'. */
function budgetText({ max, minPriority, windowNs, freeInNs }: ExhaustedBudget): string {
  const ofBand = minPriority === undefined ? '' : ` of workloads with priority ${String(minPriority)} or more`;
  if (freeInNs === undefined) return `evictionBudget permits no eviction${ofBand}`;
  const what = minPriority === undefined ? 'evicts nothing more' : 'evicts none of these';
  const used = `${counted(BigInt(max), 'evictions')}${ofBand} in ${formatDuration(windowNs)}`;
  return `the eviction budget is used up: ${used}; evictd ${what} for ${formatDuration(wholeSeconds(freeInNs))}`;
}

/** 'the last eviction freed 16MiB, and memory that no eviction frees has grown by 15MiB since; …'. */
function leakText({ grower, grownBytes, freedBytes }: Leak): string {
  const what =
    grower === undefined ? 'memory outside the workloads (another unit, the kernel, or a tmpfs)' : 'memory that no eviction frees';
  return `the last eviction freed ${amountOfBytes(freedBytes)}, and ${what} has grown by ${amountOfBytes(grownBytes)} since; evictd waits, because no eviction cures that`;
}

/** Rounded up. */
function wholeSeconds(ns: bigint): bigint {
  return ((ns + NS_PER_SECOND - 1n) / NS_PER_SECOND) * NS_PER_SECOND;
}

export function thresholdMessage(effect: Extract<Effect, { kind: 'threshold' }>): string {
  const { threshold, met, observation, over } = effect;
  const { signal, gracePeriodNs } = threshold;
  if (!met) {
    const times = over !== undefined && over.timesMet > 1 ? `; it was met ${String(over.timesMet)} times in this episode` : '';
    return (isListed(threshold) ? endOfListed(effect) : endOfSignal(effect)) + times;
  }
  const acting = isResourceThreshold(threshold) ? 'evicting' : 'alerting';
  const grace = gracePeriodNs > 0n ? `; ${acting} if it holds for ${formatDuration(gracePeriodNs)}` : '';
  return observation ? comparisonText({ ...effect, observation }) + grace : `${signal} cannot be read`;
}

/** A threshold may end while it is still met: a reload removed it. */
function endOfSignal({ threshold, observation }: Extract<Effect, { kind: 'threshold' }>): string {
  const { signal, value } = threshold;
  const limit = `${valueText(value)} (${thresholdKind(threshold)})`;
  if (observation === undefined) return `${signal} cannot be read any more; it is not known whether it is below ${limit}`;
  const available = `${amountOf(signal, observation.available)} available`;
  return thresholdMet(threshold, observation, false)
    ? `${signal} no longer has the threshold ${limit}: ${available}`
    : `${signal} is back above ${limit}: ${available}`;
}

/**
 * 'memory.available<10% & memory.pressure.full>40% (soft) is over: memory.available 60MiB, memory.pressure.full 12%'.
 */
function endOfListed(effect: Extract<Effect, { kind: 'threshold' }>): string {
  return `${whenText(effect.threshold)} (${thresholdKind(effect.threshold)}) is over: ${readingsText(effect)}`;
}

/** 'memory.available 60MiB, memory.pressure.full 12%'. */
export function readingsText({
  threshold,
  observation,
  joined = [],
}: Pick<Extract<Effect, { kind: 'threshold' }>, 'threshold' | 'observation' | 'joined'>): string {
  const readings = [{ operand: threshold, observation }, ...joined].map(({ operand: { signal }, observation: read }) => {
    if (read === undefined) return `${signal} not read`;
    return `${signal}${read.standIn === undefined ? '' : ` (${read.standIn})`} ${amountOf(signal, read.available)}`;
  });
  return readings.join(', ');
}
