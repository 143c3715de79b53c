import type { Effect } from '../../core/effect.js';
import type { Decision } from '../../core/eviction.js';
import { journalRecords } from '../../monitor/effects/run.js';
import { EFFECTS } from '../../monitor/effects/table.js';
import type { Wake } from '../../monitor/ports.js';
import type { JournalRecord } from '../../monitor/record.js';
import type { RecordedStep } from '../../monitor/recording/format.js';
import type { EvictionTimes } from '../../monitor/victims.js';

/** The journal records that a run would have written of these steps, in the order of the loop. */
export class ReplayedJournal {
  readonly #times = new Map<number, EvictionTimes>();

  /** @param effects  of this step */
  records({ wake, input }: Pick<RecordedStep, 'wake' | 'input'>, effects: readonly Effect[]): readonly JournalRecord[] {
    for (const [serial, { signalledAtNs }] of input.victims) this.#signalled(serial, signalledAtNs);
    for (const effect of effects) if (effect.kind === 'evict') this.#decided(effect.decision, wake);
    return journalRecords(EFFECTS, effects, { wake, timesOf: (serial) => this.#times.get(serial) });
  }

  #decided({ serial, decidedAtNs }: Decision, { atNs }: Wake): void {
    this.#times.set(serial, { crossingNs: atNs, wakeNs: undefined, decisionNs: decidedAtNs, signalNs: undefined, killNs: undefined });
  }

  /** The time of the last signal comes with every reading of a victim: first that of SIGTERM, or of SIGKILL; then that of SIGKILL. */
  #signalled(serial: number, atNs: bigint | undefined): void {
    const times = this.#times.get(serial);
    if (times === undefined || atNs === undefined || atNs === times.signalNs) return;
    this.#times.set(serial, times.signalNs === undefined ? { ...times, signalNs: atNs } : { ...times, killNs: times.killNs ?? atNs });
  }
}
