import type { Metrics } from '../ports/metrics.js';
import type { JournalRecord } from '../../journal/records/record.js';

/** The log line of an effect; its sentence is the record's `message`. */
export interface EffectLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The log line and the metrics of one kind of effect. What is omitted is not reported. */
export interface EffectReport<E> {
  readonly log?: (effect: E, record: JournalRecord) => EffectLine;
  readonly metric?: (effect: E, metrics: Metrics) => void;
}
