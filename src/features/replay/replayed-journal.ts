import { decisionsOf, type Effect } from '../../core/decide/effect.js';
import type { Decision } from '../../core/decide/eviction.js';
import { journalRecords } from '../../monitor/effects/run.js';
import { EFFECTS } from '../../monitor/effects/table.js';
import type { Wake } from '../../monitor/ports/ports.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { RecordedStep } from '../../recording/recording-format.js';
import { afterSignal, lastSignalNs, noSignalSent, orderedSignals, type SentSignals } from '../../monitor/ports/sent-signals.js';
import type { TimedDecision, TimedRecord } from './replay-report.js';

/** Builds the journal records of a replayed run. */
class ReplayedJournal {
  readonly #signals = new Map<number, SentSignals>();

  /** @param effects  of this step */
  records({ wake, input }: Pick<RecordedStep, 'wake' | 'input'>, effects: readonly Effect[]): readonly JournalRecord[] {
    for (const [serial, { signalledAtNs }] of input.victims) this.#signalled(serial, signalledAtNs);
    for (const effect of effects) if (effect.kind === 'evict') this.#decided(effect.decision, wake);
    return journalRecords(EFFECTS, effects, { wake, timesOf: (serial) => this.#signals.get(serial)?.times });
  }

  #decided({ serial, decidedAtNs, standingOrder }: Decision, { atNs }: Wake): void {
    const signals = standingOrder
      ? orderedSignals(standingOrder.crossedAtNs, standingOrder.signalledAtNs)
      : noSignalSent({ crossingNs: atNs, wakeNs: undefined, decisionNs: decidedAtNs });
    this.#signals.set(serial, signals);
  }

  /** A reading of a victim has the time of the last signal: SIGTERM or SIGKILL, later SIGKILL. */
  #signalled(serial: number, atNs: bigint | undefined): void {
    const before = this.#signals.get(serial);
    if (before === undefined || atNs === undefined || atNs === lastSignalNs(before)) return;
    this.#signals.set(serial, afterSignal(before, before.sent === undefined ? 'signalNs' : 'killNs', { atNs }));
  }
}

export class ReplayedRecords {
  readonly records: TimedRecord[] = [];
  readonly decisions: TimedDecision[] = [];
  readonly #journal = new ReplayedJournal();

  /** Returns the decisions among the effects. */
  add(entry: RecordedStep, effects: readonly Effect[], time: string): readonly Decision[] {
    const records = this.#journal.records(entry, effects);
    for (const record of records) this.records.push({ time, atNs: entry.input.nowNs, record });
    const decided = decisionsOf(effects);
    for (const decision of decided) {
      const record = records.find(({ type, decision: serial }) => type === 'decision' && serial === decision.serial);
      if (record) this.decisions.push({ decision, record, atNs: entry.input.nowNs });
    }
    return decided;
  }
}
