import type { Effect } from '../../core/effect.js';
import type { Decision } from '../../core/eviction.js';
import type { Wake } from '../../monitor/ports.js';
import {
  alertRecord,
  conditionRecord,
  decisionRecord,
  errorRecord,
  escalationRecord,
  outcomeRecord,
  releaseRecord,
  thresholdRecord,
  type EvictionTimes,
  type JournalRecord,
} from '../../monitor/record.js';
import { reclaimRecord } from '../../monitor/reclaim-record.js';
import type { RecordedStep } from '../../monitor/recording/format.js';

/** The journal that a run would have written of these steps: the records, in the order, of monitor/loop.ts. */
export class ReplayedJournal {
  readonly #times = new Map<number, EvictionTimes>();

  /** @param effects  of this step */
  records({ wake, input }: Pick<RecordedStep, 'wake' | 'input'>, effects: readonly Effect[]): JournalRecord[] {
    for (const [serial, { signalledAtNs }] of input.victims) this.#signalled(serial, signalledAtNs);
    const acted = effects.flatMap((effect) => this.#acted(effect, wake));
    return [...acted, ...effects.flatMap(told)];
  }

  /** What cannot wait. */
  #acted(effect: Effect, wake: Wake): JournalRecord[] {
    switch (effect.kind) {
      case 'evict':
        this.#decided(effect.decision, wake);
        return [decisionRecord(effect.decision, wake)];
      case 'escalate':
        return [escalationRecord(effect)];
      case 'outcome':
        return [outcomeRecord(effect.outcome, this.#times.get(effect.outcome.decision.serial))];
      case 'reclaim':
        return [reclaimRecord(effect)];
      case 'attempt':
      case 'reclaimed':
      case 'condition':
      case 'threshold':
      case 'alert':
      case 'error':
        return [];
      case 'release':
        return [releaseRecord(effect)];
    }
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

/** What can wait until the signals are out. */
function told(effect: Effect): JournalRecord[] {
  switch (effect.kind) {
    case 'threshold':
      return [thresholdRecord(effect)];
    case 'condition':
      return [conditionRecord(effect)];
    case 'alert':
      return [alertRecord(effect)];
    case 'reclaimed':
      return [reclaimRecord(effect)];
    case 'error':
      return [errorRecord(effect)];
    case 'attempt':
    case 'evict':
    case 'escalate':
    case 'outcome':
    case 'reclaim':
    case 'release':
      return [];
  }
}
