import { percentOf } from '../../core/quantity/amount.js';
import type { Effect } from '../../core/decide/effect.js';
import { evictionSignal } from '../../core/message/eviction-signal.js';
import { knownBytes, type Decision } from '../../core/decide/eviction.js';
import { type ThresholdCause } from '../../core/threshold/threshold-cause.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { decisionMessage } from '../../core/message/message.js';
import { quantityValue } from '../../core/quantity/quantity.js';
import { isPressure } from '../../core/signal/signal.js';
import type { Wake } from '../ports/ports.js';
import { rankingRow, victimOf } from '../../journal/records/ranking-row.js';
import { holdersOf, readingOf } from '../../journal/records/reading-record.js';
import type { JournalRecord } from '../../journal/records/record.js';
import { actionOf, unitOf } from '../../journal/records/node-records.js';
import type { EffectHandler } from './handler.js';

/** A workload is evicted; in a dry run that is only recorded. */
export const evict: EffectHandler<Extract<Effect, { kind: 'evict' }>> = {
  record: ({ decision }, { wake }) => decisionRecord(decision, wake),
  isRecordedFirst: true,
  isSignal: ({ decision }) => !decision.dryRun,
  perform: ({ decision }, { victims, reporter }, wake, times) => {
    if (decision.dryRun) return;
    const { crossingNs, signalNs } = victims.begin(decision, wake, times);
    if (signalNs !== undefined) reporter.signalled(signalNs - crossingNs);
  },
  log: ({ decision }) => ({
    level: 'warn',
    fields: {
      decision: decision.serial,
      signal: evictionSignal(decision),
      victim: decision.victim.workload.path,
      candidates: decision.ranking.length,
      unreadable: decision.unreadable.length,
    },
  }),
};

export function decisionRecord(decision: Decision, wake: Wake): JournalRecord {
  const { victim, graceNs, ranking, resource, unreadable } = decision;
  const expectedBytes = knownBytes(victim);
  return {
    type: 'decision',
    decision: decision.serial,
    dryRun: decision.dryRun,
    ...causeOf(decision),
    wake: wake.source,
    wakeAtNs: jsonInteger(wake.atNs),
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

function limitOf({ threshold: { signal }, limit }: ThresholdCause): Record<string, unknown> {
  return isPressure(signal) ? { limitPercent: percentOf(limit) } : { limit: jsonInteger(limit) };
}
