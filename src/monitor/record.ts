import { holderJson } from '../core/disk-holder.js';
import type { Effect } from '../core/effect.js';
import { evictionSignal } from '../core/eviction-signal.js';
import { percentOf } from '../core/amount.js';
import { knownBytes, type Decision, type Outcome, type ThresholdCause } from '../core/eviction.js';
import { jsonInteger } from '../core/integer.js';
import { meansOf } from '../core/means.js';
import { alertMessage, decisionMessage, outcomeMessage, thresholdMessage, type ThresholdReading } from '../core/message.js';
import type { Observation } from '../core/observation.js';
import { quantityValue } from '../core/quantity.js';
import { isPressure, type Signal } from '../core/signal.js';
import type { State } from '../core/state.js';
import { notStartedText, releaseText } from '../core/unit-message.js';
import type { Hold } from '../core/restart-storm.js';
import type { NotStarted } from '../core/unit-start.js';
import { isListed, resolve, thresholdKind, valueText, whenText, type Operand } from '../core/threshold.js';
import type { Wake } from './ports.js';
import { actionOf, stoppedWith, stormOf, unitOf } from './unit-record.js';
import { rankingRow, victimOf } from './ranking-row.js';

/** One line of the journal; docs/journal.md says it field by field. Integers are numbers up to 2^53, beyond that decimal strings. */
export type JournalRecord = Readonly<Record<string, unknown>> & { readonly type: string; readonly message: string };

/** A record as it stands in the journal, without its line end. */
export function journalLine({ type, ...rest }: JournalRecord, of: { readonly node: unknown; readonly dryRun: unknown }): string {
  const { node, dryRun } = of;
  return JSON.stringify({ time: new Date().toISOString(), type, node, dryRun, ...rest });
}

/** The line before it has no end. */
export function tornRecord(bytes: number): JournalRecord {
  return { type: 'torn', bytes, message: `the line before was cut off after ${String(bytes)} bytes` };
}

/** When what happened, monotonic nanoseconds; the spans of an eviction are differences of these. */
export interface EvictionTimes {
  readonly crossingNs: bigint;
  /** undefined: in a replay, which does not know it. */
  readonly wakeNs: bigint | undefined;
  readonly decisionNs: bigint;
  readonly signalNs: bigint | undefined;
  readonly killNs: bigint | undefined;
}

/** What a run begins with. */
export interface StartFacts {
  readonly version: string;
  readonly dryRun: boolean;
  /** Records of the run before that were still in the runtime directory. */
  readonly recovered: number;
  readonly state: Pick<State, 'episodes' | 'conditions' | 'evictions'>;
  /** Why what the run before left was not taken over; undefined: it was, or there was nothing. */
  readonly discarded: string | undefined;
}

/** A run of evictd begins. */
export function startRecord({ version, dryRun, recovered, state, discarded }: StartFacts): JournalRecord {
  const kept = recovered === 0 ? '' : `; ${String(recovered)} records of the run before were still in the runtime directory`;
  const evictions = state.evictions.map(({ decision, phase }) => ({ decision: decision.serial, victim: victimOf(decision.victim), phase }));
  const thresholds = [...state.episodes.values()].map(whenText);
  const { conditions } = state;
  const resumed = { thresholds, conditions, evictions };
  const names = [
    ...thresholds,
    ...conditions,
    ...state.evictions.map(({ decision: { victim } }) => `the eviction of ${victim.workload.name}`),
  ];
  const goesOn = names.length === 0 ? '' : `; it goes on with ${names.join(', ')}`;
  const lost = discarded === undefined ? '' : `; the state of the run before is discarded: ${discarded}`;
  return {
    type: 'start',
    version,
    recovered,
    ...(names.length === 0 ? {} : { resumed }),
    ...(discarded === undefined ? {} : { discarded }),
    message: `evictd ${version} starts${dryRun ? ' a dry run' : ''}${kept}${goesOn}${lost}`,
  };
}

/**
 * The outcome of a decision of which nothing but its record is left.
 *
 * @param isStateOlder  the state that was left is of a time before it: evictd was killed in between, or could not write a state then; else nothing is known
 */
export function unfinishedRecord(record: Readonly<Record<string, unknown>>, isStateOlder: boolean): JournalRecord {
  const { decision, signal, victim, expectedBytes } = record;
  const { name } = victim as { readonly name: string };
  const abandoned = isStateOlder
    ? 'evictd ended before it wrote down more than the decision: no signal was sent, unless the state could not be written then'
    : 'evictd ended before it was over, and what became of it is not known';
  return {
    type: 'outcome',
    decision,
    result: 'abandoned' satisfies Outcome['result'],
    signal,
    victim,
    ...(expectedBytes === undefined ? {} : { expectedBytes }),
    freedBytes: 0,
    abandoned,
    message: `the eviction of ${name} is given up: ${abandoned}`,
  };
}

export function stopRecord(): JournalRecord {
  return { type: 'stop', message: 'evictd stops' };
}

/** Another configuration is in force from here on. */
export function reloadRecord(message: string): JournalRecord {
  return { type: 'reload', message };
}

/** Another configuration was asked for and is wrong. `errors`: a line each. */
export function reloadRefusedRecord(errors: readonly string[]): JournalRecord {
  return { type: 'reload-refused', errors, message: 'the new configuration was refused: the one before stays in force' };
}

export function decisionRecord(decision: Decision, wake: Wake): JournalRecord {
  const { victim, graceNs, ranking, resource, unreadable } = decision;
  const expectedBytes = knownBytes(victim);
  return {
    type: 'decision',
    decision: decision.serial,
    dryRun: decision.dryRun,
    ...causeOf(decision),
    wake: wake.source,
    ...(wake.counters === undefined ? {} : { wakeCounters: wake.counters }),
    victim: victimOf(victim),
    action: actionOf(decision),
    graceSeconds: Number(graceNs) / 1e9,
    ...unitOf(decision),
    ...(expectedBytes === undefined ? {} : { expectedBytes: jsonInteger(expectedBytes) }),
    ranking: ranking.map((ranked) => rankingRow(ranked, resource, decision.decidedAtNs)),
    unreadable,
    ...holdersOf(decision),
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
    message: `${reason}: ${meansOf(decision.victim.workload).kill} for ${name}`,
  };
}

export function outcomeRecord(outcome: Outcome, times: EvictionTimes | undefined): JournalRecord {
  const { decision, nodeAfter, error, abandoned, processesLeft } = outcome;
  const { cause } = decision;
  return {
    type: 'outcome',
    decision: decision.serial,
    result: outcome.result,
    signal: evictionSignal(decision),
    victim: victimOf(decision.victim),
    expectedBytes: jsonInteger(outcome.expectedBytes),
    freedBytes: jsonInteger(outcome.freedBytes),
    cgroupRemoved: outcome.removed,
    ...(processesLeft === undefined ? {} : { processesLeft }),
    ...(error === undefined ? {} : { error }),
    ...stoppedWith(outcome),
    ...(abandoned === undefined ? {} : { abandoned }),
    ...(cause.kind === 'threshold' ? nodeReading(cause.threshold.signal, 'Before', cause.observation) : {}),
    ...(cause.kind === 'threshold' && nodeAfter !== undefined ? nodeReading(cause.threshold.signal, 'After', nodeAfter) : {}),
    ...(times === undefined ? {} : { spansMs: spansMs(times, outcome.atNs) }),
    message: outcomeMessage(outcome),
  };
}

export function thresholdRecord(effect: Extract<Effect, { kind: 'threshold' }>): JournalRecord {
  const { observation, threshold } = effect;
  const reading = observation ? readingOf({ ...effect, observation }) : { signal: threshold.signal, ...joinedOf(effect) };
  return { type: 'threshold', met: effect.met, ...reading, message: thresholdMessage(effect) };
}

export function conditionRecord({ type, status }: Extract<Effect, { kind: 'condition' }>): JournalRecord {
  return { type: 'condition', condition: type, status, message: `node condition ${type} is now ${String(status)}` };
}

export function alertRecord(effect: Extract<Effect, { kind: 'alert' }>): JournalRecord {
  return {
    type: 'alert',
    alert: effect.alert,
    ...readingOf(effect),
    ...stormOf(effect.decision),
    ...holdersOf(effect),
    message: alertMessage(effect),
  };
}

function holdersOf({ holders }: Pick<Decision, 'holders'>): Record<string, unknown> {
  return holders === undefined ? {} : { holders: holders.map(holderJson) };
}

/** What was kept stopped is started again. */
export function releaseRecord({ hold }: Pick<Extract<Effect, { kind: 'release' }>, 'hold'>): JournalRecord {
  return { type: 'release', decision: hold.decision, unit: hold.unit, start: hold.start, message: releaseText(hold) };
}

/** Not all of what was kept stopped is. */
export function notReleasedRecord({ decision, unit, start }: Hold, { reasons }: Pick<NotStarted, 'reasons'>): JournalRecord {
  return { type: 'release', decision, unit, start, errors: reasons, message: notStartedText(unit, { reasons }) };
}

/** A step that could not be made. */
export function errorRecord({ message }: Extract<Effect, { kind: 'error' }>): JournalRecord {
  return { type: 'error', message };
}

function causeOf(decision: Decision): Record<string, unknown> {
  const { cause } = decision;
  switch (cause.kind) {
    case 'threshold':
      return { ...readingOf(cause), ...limitOf(cause) };
    case 'storage-limit': {
      const { limit, ...which } = cause.breach;
      return {
        signal: evictionSignal(decision),
        kind: 'storage-limit',
        storageLimit: { ...which, limit: limit.text, limitBytes: jsonInteger(quantityValue(limit)) },
      };
    }
  }
}

export function readingOf(reading: ThresholdReading): Record<string, unknown> {
  const { threshold, observation } = reading;
  const { signal, ...values } = operandReading(threshold, observation);
  return { signal, kind: thresholdKind(threshold), ...values, ...joinedOf(reading) };
}

/** What an entry of the list `thresholds` says, with the reading of every operand. */
function joinedOf({
  threshold,
  observation,
  joined = [],
}: Omit<ThresholdReading, 'observation'> & { observation: Observation | undefined }): object {
  if (!isListed(threshold)) return {};
  const operands = [{ operand: threshold, observation }, ...joined];
  return { when: whenText(threshold), operands: operands.map(({ operand, observation: read }) => operandReading(operand, read)) };
}

/** Amounts in the unit of the signal; pressure in percent of the wall time. */
function operandReading({ signal, value }: Operand, observation: Observation | undefined): Record<string, unknown> {
  const threshold = { signal, threshold: valueText(value) };
  if (observation === undefined) return threshold;
  const { available, capacity, source } = observation;
  const limit = resolve(value, capacity);
  if (isPressure(signal)) return { ...threshold, thresholdPercent: percentOf(limit), stalledPercent: percentOf(available), source };
  return {
    ...threshold,
    thresholdValue: jsonInteger(limit),
    available: jsonInteger(available),
    capacity: jsonInteger(capacity),
    source,
  };
}

function limitOf({ threshold: { signal }, limit }: ThresholdCause): Record<string, unknown> {
  return isPressure(signal) ? { limitPercent: percentOf(limit) } : { limit: jsonInteger(limit) };
}

function nodeReading(signal: Signal, when: 'Before' | 'After', { available }: Observation): Record<string, unknown> {
  if (isPressure(signal)) return { [`nodeStalledPercent${when}`]: percentOf(available) };
  return { [`nodeAvailable${when}`]: jsonInteger(available) };
}

/** Milliseconds with microseconds: crossing → wake → decision → signal → kill → gone. */
function spansMs(times: EvictionTimes, goneNs: bigint): Record<string, number> {
  const ms = (from: bigint, to: bigint): number => Math.round(Number(to - from) / 1e3) / 1e3;
  const { crossingNs, wakeNs, decisionNs, signalNs, killNs } = times;
  return {
    ...(wakeNs === undefined ? {} : { crossingToWake: ms(crossingNs, wakeNs), wakeToDecision: ms(wakeNs, decisionNs) }),
    ...(signalNs === undefined
      ? {}
      : { decisionToSignal: ms(decisionNs, signalNs), crossingToSignal: ms(crossingNs, signalNs), signalToGone: ms(signalNs, goneNs) }),
    ...(killNs === undefined || killNs === signalNs ? {} : { killToGone: ms(killNs, goneNs) }),
  };
}
