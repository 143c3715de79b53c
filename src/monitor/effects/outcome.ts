import type { Effect } from '../../core/decide/effect.js';
import { evictionSignal } from '../../core/message/eviction-signal.js';
import type { Outcome } from '../../core/decide/eviction.js';
import { processesText, type VictimProcess } from '../../core/oom/victim-process.js';
import { nodeBefore } from '../../core/rank/eviction-cause.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { outcomeMessage } from '../../core/message/message.js';
import { victimOf } from '../../journal/records/ranking-row.js';
import { nodeReading } from '../../journal/records/reading-record.js';
import type { JournalRecord } from '../../journal/records/record.js';
import { stoppedWith } from '../../journal/records/node-records.js';
import type { EvictionTimes } from '../ports/sent-signals.js';
import type { EffectHandler } from './handler.js';
import type { EffectLine } from './report.js';

const LEVELS: Readonly<Record<Outcome['result'], EffectLine['level']>> = {
  killed: 'warn',
  ineffective: 'warn',
  failed: 'error',
  vanished: 'info',
  abandoned: 'warn',
};

export const outcome: EffectHandler<Extract<Effect, { kind: 'outcome' }>> = {
  record: ({ outcome: over }, { timesOf, processes }) =>
    outcomeRecord(over, timesOf(over.decision.serial), processes?.ended(over.decision)),
  isRecordedFirst: true,
  perform: ({ outcome: { decision } }, { victims }) => {
    victims.end(decision.serial);
  },
  log: ({ outcome: { result } }, { decision, freedBytes, expectedBytes, nodeFreedBytes, notFreed, spansMs, processes }) => ({
    level: LEVELS[result],
    fields:
      result === 'killed' || result === 'ineffective'
        ? { decision, freedBytes, expectedBytes, nodeFreedBytes, notFreed, spansMs, processes: textOf(processes) }
        : { decision, processes: textOf(processes) },
  }),
  metric: ({ outcome: { decision, result, counted } }, metrics) => {
    const of = [evictionSignal(decision), { decision: decision.serial, workload: decision.victim.workload.path }] as const;
    if (counted) metrics.evicted(...of);
    if (result === 'ineffective') metrics.ineffective(...of);
    if (result === 'failed') metrics.failed(...of);
  },
};

const textOf = (processes: unknown): string | undefined => processesText(processes as readonly VictimProcess[] | undefined);

export function outcomeRecord(over: Outcome, times: EvictionTimes | undefined, processes?: readonly VictimProcess[]): JournalRecord {
  const { decision, nodeAfter, error, abandoned, processesLeft } = over;
  const before = nodeBefore(decision.cause);
  return {
    type: 'outcome',
    decision: decision.serial,
    result: over.result,
    signal: evictionSignal(decision),
    victim: victimOf(decision.victim),
    expectedBytes: jsonInteger(over.expectedBytes),
    freedBytes: jsonInteger(over.freedBytes),
    ...(over.nodeFreedBytes === undefined ? {} : { nodeFreedBytes: jsonInteger(over.nodeFreedBytes) }),
    ...(over.notFreed && { notFreed: over.notFreed }),
    cgroupRemoved: over.removed,
    ...(processesLeft === undefined ? {} : { processesLeft }),
    ...(processes && { processes: processes.map((process) => ({ ...process })) }),
    ...(over.later && { laterProcess: { ...over.later } }),
    ...(error === undefined ? {} : { error }),
    ...stoppedWith(over),
    ...(abandoned === undefined ? {} : { abandoned }),
    ...(before && nodeReading(before.signal, 'Before', before.observation)),
    ...(before && nodeAfter && nodeReading(before.signal, 'After', nodeAfter)),
    ...(times === undefined ? {} : { spansMs: spansMs(times, over.atNs) }),
    message: outcomeMessage(over),
  };
}

/** Milliseconds with microseconds: crossing → wake → decision (candidates → choice → record) → signal → kill → exit. */
function spansMs(times: EvictionTimes, exitedNs: bigint): Record<string, number> {
  const ms = (from: bigint, to: bigint): number => Math.round(Number(to - from) / 1e3) / 1e3;
  const span = (name: string, from: bigint | undefined, to: bigint | undefined): Record<string, number> =>
    from === undefined || to === undefined ? {} : { [name]: ms(from, to) };
  const { crossingNs, wakeNs, decisionNs, candidatesNs, chosenNs, recordedNs, signalNs, killNs } = times;
  return {
    ...span('crossingToWake', crossingNs, wakeNs),
    ...span('wakeToDecision', wakeNs, decisionNs),
    ...span('decisionToCandidates', decisionNs, candidatesNs),
    ...span('candidatesToChoice', candidatesNs, chosenNs),
    ...span('choiceToRecord', chosenNs, recordedNs),
    ...span('recordToSignal', recordedNs, signalNs),
    ...span('decisionToSignal', decisionNs, signalNs),
    ...span('crossingToSignal', crossingNs, signalNs),
    ...span('signalToExit', signalNs, exitedNs),
    ...(killNs === signalNs ? {} : span('killToExit', killNs, exitedNs)),
  };
}
