import type { Effect } from '../../core/effect.js';
import type { Decision } from '../../core/eviction.js';
import type { RecordedStep } from '../../monitor/recording/format.js';
import type { Made } from './difference.js';
import { ReplayedJournal } from './journal.js';
import type { TimedRecord } from './report.js';

/** What a run has decided and would have said so far. */
export class Told {
  readonly records: TimedRecord[] = [];
  readonly decisions: Made[] = [];
  readonly #journal = new ReplayedJournal();

  /** Returns the decisions among the effects. */
  add(entry: RecordedStep, effects: readonly Effect[], time: string): readonly Decision[] {
    const records = this.#journal.records(entry, effects);
    for (const record of records) this.records.push({ time, atNs: entry.input.nowNs, record });
    const decided = effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));
    for (const decision of decided) {
      const record = records.find(({ type, decision: serial }) => type === 'decision' && serial === decision.serial);
      if (record) this.decisions.push({ decision, record, atNs: entry.input.nowNs });
    }
    return decided;
  }
}
