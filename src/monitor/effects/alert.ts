import type { Effect } from '../../core/decide/effect.js';
import { alertMessage } from '../../core/message/message.js';
import { holdersOf, readingOf } from '../../journal/records/reading-record.js';
import type { JournalRecord } from '../../journal/records/record.js';
import { stormOf } from '../../journal/records/node-records.js';
import type { EffectHandler } from './handler.js';

type Alert = Extract<Effect, { kind: 'alert' }>;

export const alert: EffectHandler<Alert> = {
  record: alertRecord,
  log: ({ alert: kind, threshold: { signal } }) => ({ level: 'error', fields: { ...codeOf(kind), alert: kind, signal } }),
  metric: ({ alert: kind, threshold: { signal } }, metrics) => {
    metrics.alerted(kind, signal);
  },
};

/** evictd has stopped evicting, so that an operator looks it up. */
function codeOf(kind: Alert['alert']): Record<string, unknown> {
  return kind === 'budget-exhausted' ? { code: 'EVICTD_BUDGET_EXHAUSTED' } : {};
}

function budgetOf({ budget }: Alert): Record<string, unknown> {
  if (budget === undefined) return {};
  const { max, minPriority, windowNs, freeInNs } = budget;
  const seconds = (ns: bigint): number => Number(ns) / 1e9;
  return {
    budget: {
      max,
      ...(minPriority === undefined ? {} : { minPriority }),
      windowSeconds: seconds(windowNs),
      ...(freeInNs === undefined ? {} : { freeInSeconds: seconds(freeInNs) }),
    },
  };
}

export function alertRecord(effect: Alert): JournalRecord {
  return {
    type: 'alert',
    alert: effect.alert,
    ...readingOf(effect),
    ...stormOf(effect.decision),
    ...holdersOf(effect),
    ...budgetOf(effect),
    message: alertMessage(effect),
  };
}
