import type { Effect } from '../core/effect.js';
import { evictionSignal } from '../core/eviction-signal.js';
import { percentOf } from '../core/amount.js';
import type { Decision, Outcome, ThresholdCause } from '../core/eviction.js';
import { jsonInteger } from '../core/integer.js';
import { kernelKillMessage, type KernelKill } from '../core/kernel-kill.js';
import { alertMessage, comparisonText, decisionMessage, outcomeMessage, thresholdMessage, type ThresholdReading } from '../core/message.js';
import type { Observation } from '../core/observation.js';
import { quantityValue } from '../core/quantity.js';
import { isPressure, type Signal } from '../core/signal.js';
import { isListed, resolve, thresholdKind, valueText, whenText, type Operand } from '../core/threshold.js';
import type { Wake } from './ports.js';
import { rankingRow, victimOf } from './ranking-row.js';

/** One line of the journal; docs/journal.md says it field by field. Integers are numbers up to 2^53, beyond that decimal strings. */
export type JournalRecord = Readonly<Record<string, unknown>> & { readonly type: string; readonly message: string };

/** When what happened, monotonic nanoseconds; the spans of an eviction are differences of these. */
export interface EvictionTimes {
  readonly crossingNs: bigint;
  /** undefined: in a replay, which does not know it. */
  readonly wakeNs: bigint | undefined;
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
  const { victim, graceNs, ranking, resource, unreadable } = decision;
  const expectedBytes = victim.stats?.workingSetBytes;
  return {
    type: 'decision',
    decision: decision.serial,
    dryRun: decision.dryRun,
    ...causeOf(decision),
    wake: wake.source,
    ...(wake.counters === undefined ? {} : { wakeCounters: wake.counters }),
    victim: victimOf(victim),
    action: graceNs > 0n ? 'SIGTERM' : 'SIGKILL',
    graceSeconds: Number(graceNs) / 1e9,
    ...(expectedBytes === undefined ? {} : { expectedBytes: jsonInteger(expectedBytes) }),
    ranking: ranking.map((ranked) => rankingRow(ranked, resource)),
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
  return { type: 'alert', alert: effect.alert, ...readingOf(effect), message: alertMessage(effect) };
}

/** Node-level reclaim begins, or what it came to. */
export function reclaimRecord(effect: Extract<Effect, { kind: 'reclaim' | 'reclaimed' }>): JournalRecord {
  const { collections } = effect.reclaim;
  const over = effect.kind === 'reclaimed' ? { enough: effect.enough, errors: effect.errors } : {};
  return { type: effect.kind, ...readingOf(effect.reclaim), collections, ...over, message: reclaimMessage(effect) };
}

/** 'reclaiming containers, images: nodefs.available 1.2GiB < 10% = 5GiB (hard)'. */
export function reclaimMessage(effect: Extract<Effect, { kind: 'reclaim' | 'reclaimed' }>): string {
  const { threshold, collections } = effect.reclaim;
  const what = collections.join(', ');
  if (effect.kind === 'reclaim') return `reclaiming ${what}: ${comparisonText(effect.reclaim)}`;
  const failed = effect.errors.length === 0 ? '' : `; ${effect.errors.join('; ')}`;
  const enough = effect.enough ? 'was enough, so nobody is evicted' : 'was not enough';
  return `reclaiming ${what} for ${threshold.signal} ${enough}${failed}`;
}

/** A step that could not be made. */
export function errorRecord({ message }: Extract<Effect, { kind: 'error' }>): JournalRecord {
  return { type: 'error', message };
}

/** The kernel's OOM killer was first. `workload`: the one that lost a process. */
export function kernelOomRecord(kill: KernelKill, workload: { readonly name: string; readonly path: string } | undefined): JournalRecord {
  const { limitedCgroup, cgroup, uid, anonBytes, constraint, pid, name, oomScoreAdj, sinceBootUs } = kill;
  return {
    type: 'kernel-oom',
    constraint,
    ...(limitedCgroup === undefined ? {} : { limitedCgroup }),
    ...(cgroup === undefined ? {} : { cgroup }),
    ...(workload === undefined ? {} : { workload }),
    process: { pid, name, ...(uid === undefined ? {} : { uid }), anonBytes: jsonInteger(anonBytes), oomScoreAdj },
    sinceBootUs,
    message: kernelKillMessage(kill, workload?.name),
  };
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

function readingOf(reading: ThresholdReading): Record<string, unknown> {
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
