import type { Effect } from '../../core/effect.js';
import type { Decision } from '../../core/eviction.js';
import { journalRecords } from '../../monitor/effects/run.js';
import { EFFECTS } from '../../monitor/effects/table.js';
import type { Wake } from '../../monitor/ports.js';
import type { JournalRecord } from '../../monitor/record.js';
import type { RecordedStep } from '../../monitor/recording/format.js';
import { afterSignal, lastSignalNs, noSignalSent, type SentSignals } from '../../monitor/sent-signals.js';

/** The journal records that a run would have written of these steps, in the order of the loop. */
export class ReplayedJournal {
  readonly #signals = new Map<number, SentSignals>();

  /** @param effects  of this step */
  records({ wake, input }: Pick<RecordedStep, 'wake' | 'input'>, effects: readonly Effect[]): readonly JournalRecord[] {
    for (const [serial, { signalledAtNs }] of input.victims) this.#signalled(serial, signalledAtNs);
    for (const effect of effects) if (effect.kind === 'evict') this.#decided(effect.decision, wake);
    return journalRecords(EFFECTS, effects, { wake, timesOf: (serial) => this.#signals.get(serial)?.times });
  }

  #decided({ serial, decidedAtNs }: Decision, { atNs }: Wake): void {
    this.#signals.set(serial, noSignalSent({ crossingNs: atNs, wakeNs: undefined, decisionNs: decidedAtNs }));
  }

  /** Every reading of a victim has the time of the last signal: first that of SIGTERM, or of SIGKILL; then that of SIGKILL. */
  #signalled(serial: number, atNs: bigint | undefined): void {
    const before = this.#signals.get(serial);
    if (before === undefined || atNs === undefined || atNs === lastSignalNs(before)) return;
    this.#signals.set(serial, afterSignal(before, before.sent === undefined ? 'signalNs' : 'killNs', { atNs }));
  }
}
