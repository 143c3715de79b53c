import type { Effect } from '../core/effect.js';
import type { Decision, Outcome } from '../core/eviction.js';
import { alertMessage, decisionMessage, outcomeMessage, thresholdMessage } from '../core/message.js';
import { jsonInteger } from '../core/integer.js';
import type { Observation } from '../core/observation.js';
import { protectionText, type RankedWorkload } from '../core/rank.js';
import { resolve, thresholdKind, valueText, type Threshold } from '../core/threshold.js';
import type { Wake } from './ports.js';

/** One line of the journal; docs/journal.md says it field by field. Integers are numbers up to 2^53, beyond that decimal strings. */
export type JournalRecord = Readonly<Record<string, unknown>> & { readonly type: string; readonly message: string };

/** When what happened, monotonic nanoseconds; the spans of an eviction are differences of these. */
export interface EvictionTimes {
  readonly crossingNs: bigint;
  readonly wakeNs: bigint;
  readonly decisionNs: bigint;
  readonly signalNs: bigint | undefined;
  readonly killNs: bigint | undefined;
}

/** A run of evictd begins. Decisions without an outcome before it belong to one that was killed. */
export function startRecord(version: string, dryRun: boolean, recovered: number): JournalRecord {
  const kept = recovered === 0 ? '' : `; ${String(recovered)} records of the run before were still in the runtime directory`;
  return { type: 'start', version, dryRun, recovered, message: `evictd ${version} starts${dryRun ? ' a dry run' : ''}${kept}` };
}

export function stopRecord(): JournalRecord {
  return { type: 'stop', message: 'evictd stops' };
}

/** Another configuration is in force from here on. */
export function reloadRecord(message: string): JournalRecord {
  return { type: 'reload', message };
}

export function decisionRecord(decision: Decision, wake: Wake): JournalRecord {
  const { threshold, observation, victim, graceNs, ranking, unreadable } = decision;
  return {
    type: 'decision',
    decision: decision.serial,
    dryRun: decision.dryRun,
    ...readingOf(threshold, observation),
    limit: jsonInteger(decision.limit),
    wake: wake.source,
    victim: victimOf(victim),
    action: graceNs > 0n ? 'SIGTERM' : 'SIGKILL',
    graceSeconds: Number(graceNs) / 1e9,
    expectedBytes: jsonInteger(victim.workingSetBytes),
    ranking: ranking.map(rankingRow),
    unreadable,
    message: decisionMessage(decision),
  };
}

export function escalationRecord({ decision, reason }: Extract<Effect, { kind: 'escalate' }>): JournalRecord {
  const { name } = decision.victim.workload;
  return {
    type: 'escalation',
    decision: decision.serial,
    victim: victimOf(decision.victim),
    reason,
    message: `${reason}: SIGKILL for ${name}`,
  };
}

export function outcomeRecord(outcome: Outcome, times: EvictionTimes | undefined): JournalRecord {
  const { decision, nodeAfter, error, processesLeft } = outcome;
  return {
    type: 'outcome',
    decision: decision.serial,
    result: outcome.result,
    signal: decision.threshold.signal,
    victim: victimOf(decision.victim),
    expectedBytes: jsonInteger(outcome.expectedBytes),
    freedBytes: jsonInteger(outcome.freedBytes),
    cgroupRemoved: outcome.removed,
    ...(processesLeft === undefined ? {} : { processesLeft }),
    ...(error === undefined ? {} : { error }),
    nodeAvailableBefore: jsonInteger(decision.observation.available),
    ...(nodeAfter === undefined ? {} : { nodeAvailableAfter: jsonInteger(nodeAfter.available) }),
    ...(times === undefined ? {} : { spansMs: spansMs(times, outcome.atNs) }),
    message: outcomeMessage(outcome),
  };
}

export function thresholdRecord(effect: Extract<Effect, { kind: 'threshold' }>): JournalRecord {
  const reading = effect.observation ? readingOf(effect.threshold, effect.observation) : { signal: effect.threshold.signal };
  return { type: 'threshold', met: effect.met, ...reading, message: thresholdMessage(effect) };
}

export function conditionRecord({ type, status }: Extract<Effect, { kind: 'condition' }>): JournalRecord {
  return { type: 'condition', condition: type, status, message: `node condition ${type} is now ${String(status)}` };
}

export function alertRecord({ alert, threshold, observation }: Extract<Effect, { kind: 'alert' }>): JournalRecord {
  return { type: 'alert', alert, ...readingOf(threshold, observation), message: alertMessage(alert, threshold, observation) };
}

function readingOf(threshold: Threshold, observation: Observation): Record<string, unknown> {
  return {
    signal: threshold.signal,
    kind: thresholdKind(threshold),
    threshold: valueText(threshold.value),
    thresholdValue: jsonInteger(resolve(threshold.value, observation.capacity)),
    available: jsonInteger(observation.available),
    capacity: jsonInteger(observation.capacity),
    source: observation.source,
  };
}

function victimOf({ workload }: RankedWorkload): Record<string, unknown> {
  return { name: workload.name, path: workload.path, id: workload.id };
}

/** The comparators' values, in the order in which they decide. */
function rankingRow(ranked: RankedWorkload): Record<string, unknown> {
  return {
    place: ranked.place,
    name: ranked.workload.name,
    exceedsRequest: ranked.exceedsRequest,
    priority: ranked.priority,
    aboveRequestBytes: jsonInteger(ranked.aboveRequestBytes),
    startOrder: jsonInteger(ranked.workload.startOrder),
    workingSetBytes: jsonInteger(ranked.workingSetBytes),
    usageBytes: jsonInteger(ranked.usageBytes),
    requestBytes: jsonInteger(ranked.requestBytes),
    path: ranked.workload.path,
    ...(ranked.protection ? { protected: ranked.protection.kind, protectedBecause: protectionText(ranked.protection) } : {}),
  };
}

/** Milliseconds with microseconds: crossing → wake → decision → signal → kill → gone. */
function spansMs(times: EvictionTimes, goneNs: bigint): Record<string, number> {
  const ms = (from: bigint, to: bigint): number => Math.round(Number(to - from) / 1e3) / 1e3;
  const { crossingNs, wakeNs, decisionNs, signalNs, killNs } = times;
  return {
    crossingToWake: ms(crossingNs, wakeNs),
    wakeToDecision: ms(wakeNs, decisionNs),
    ...(signalNs === undefined
      ? {}
      : { decisionToSignal: ms(decisionNs, signalNs), crossingToSignal: ms(crossingNs, signalNs), signalToGone: ms(signalNs, goneNs) }),
    ...(killNs === undefined || killNs === signalNs ? {} : { killToGone: ms(killNs, goneNs) }),
  };
}
