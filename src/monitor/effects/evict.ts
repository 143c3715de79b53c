import type { Effect } from '../../core/decide/effect.js';
import type { Decision } from '../../core/decide/eviction.js';
import { evictionSignal } from '../../core/message/eviction-signal.js';
import { processesText, type VictimProcesses } from '../../core/oom/victim-process.js';
import { firstCandidates } from '../../core/rank/first-candidates.js';
import { decisionRecord, rankingRecords } from '../../journal/records/decision-record.js';
import type { Wake } from '../ports/ports.js';
import type { EvictionTimes } from '../ports/sent-signals.js';
import type { EffectHandler } from './handler.js';

/** A workload is evicted; in a dry run that is only recorded. */
export const evict: EffectHandler<Extract<Effect, { kind: 'evict' }>> = {
  record: ({ decision }, { wake, processes }) => decisionRecord(decision, wakeOf(decision) ?? wake, processes?.decided(decision)),
  isRecordedFirst: true,
  isSignal: ({ decision }) => !decision.dryRun,
  perform: ({ decision }, { victims, reporter }, wake, times) => {
    if (decision.dryRun) return;
    const { standingOrder } = decision;
    const report = ({ crossingNs, signalNs }: EvictionTimes): void => {
      if (signalNs !== undefined) reporter.signalled(signalNs - crossingNs, decision.serial);
    };
    report(standingOrder ? victims.adopt(decision, standingOrder) : victims.begin(decision, wake, times, report));
  },
  followUp: ({ decision }, { processes }) => {
    if (!decision.dryRun) processes?.signalled(decision);
  },
  recordLater: ({ decision }) => rankingRecords(decision),
  log: ({ decision }, { processes }) => ({
    level: 'warn',
    fields: {
      decision: decision.serial,
      signal: evictionSignal(decision),
      victim: decision.victim.workload.path,
      processes: processesText(processes as VictimProcesses['processes'] | undefined),
      candidates: decision.ranking.length,
      unreadable: decision.unreadable.length,
    },
  }),
  metric: ({ decision }, metrics) => {
    if (decision.standingOrder) metrics.standingOrder('carried-out');
    if (!decision.dryRun) for (const budget of decision.violates ?? []) metrics.budgetViolated(budget);
    metrics.ranked(evictionSignal(decision), firstCandidates(decision));
  },
};

/** undefined: the pass has decided, and its wake counts. */
function wakeOf({ standingOrder }: Decision): Wake | undefined {
  return standingOrder && { source: 'standing_order', atNs: standingOrder.crossedAtNs };
}
