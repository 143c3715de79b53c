import type { Effect } from '../core/effect.js';
import type { Journal } from './journal.js';
import { alertRecord, conditionRecord, errorRecord, reclaimRecord, thresholdRecord } from './record.js';
import type { Reporter } from './reporter.js';

/** What of an effect can wait until the signals are out: its record where none stands yet, its line in the log, its metric. */
export function tell(effect: Effect, journal: Journal, reporter: Reporter): void {
  switch (effect.kind) {
    case 'evict':
      reporter.decided(effect.decision);
      return;
    case 'escalate':
      reporter.escalated(effect);
      return;
    case 'threshold':
      journal.record(thresholdRecord(effect));
      reporter.threshold(effect);
      return;
    case 'condition':
      journal.record(conditionRecord(effect));
      reporter.condition(effect);
      return;
    case 'alert':
      journal.record(alertRecord(effect));
      reporter.alert(effect);
      return;
    case 'reclaim':
      reporter.reclaim(effect);
      return;
    case 'reclaimed':
      journal.record(reclaimRecord(effect));
      reporter.reclaimed(effect);
      return;
    case 'error':
      journal.record(errorRecord(effect));
      reporter.error(effect);
      return;
    case 'attempt': // what comes of it says it
    case 'outcome': // said when it was acted on
      return;
  }
}
