import type { Effect } from '../core/effect.js';
import type { Journal } from './journal.js';
import type { Wake } from './ports.js';
import {
  alertRecord,
  conditionRecord,
  decisionRecord,
  errorRecord,
  escalationRecord,
  outcomeRecord,
  releaseRecord,
  thresholdRecord,
} from './record.js';
import { reclaimRecord } from './reclaim-record.js';
import type { Reporter } from './reporter.js';
import type { Victims } from './victims.js';

/** Somebody is going to be signalled. */
export function isSignal(effect: Effect): boolean {
  return effect.kind === 'escalate' || (effect.kind === 'evict' && !effect.decision.dryRun);
}

/** What stands in the ring before anybody is signalled. Lets go of victims whose eviction is over. */
export function note(effect: Effect, wake: Wake, victims: Victims, journal: Journal, reporter: Reporter): void {
  switch (effect.kind) {
    case 'evict':
      journal.record(decisionRecord(effect.decision, wake));
      return;
    case 'escalate':
      journal.record(escalationRecord(effect));
      return;
    case 'outcome': {
      const times = victims.end(effect.outcome.decision.serial);
      const record = outcomeRecord(effect.outcome, times);
      journal.record(record);
      reporter.outcome(effect.outcome, record);
      return;
    }
    case 'reclaim':
      journal.record(reclaimRecord(effect));
      return;
    case 'attempt':
    case 'reclaimed':
    case 'threshold':
    case 'condition':
    case 'release':
    case 'alert':
    case 'error':
      return;
  }
}

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
    case 'release':
      journal.record(releaseRecord(effect));
      reporter.released(effect);
      return;
    case 'attempt': // what comes of it says it
    case 'outcome': // said when it was acted on
      return;
  }
}
