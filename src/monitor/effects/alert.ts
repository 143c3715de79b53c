import type { Effect } from '../../core/decide/effect.js';
import { alertMessage } from '../../core/message/message.js';
import { holdersOf, readingOf } from '../../journal/records/reading-record.js';
import type { JournalRecord } from '../../journal/records/record.js';
import { stormOf } from '../../journal/records/node-records.js';
import type { EffectHandler } from './handler.js';

type Alert = Extract<Effect, { kind: 'alert' }>;

export const alert: EffectHandler<Alert> = {
  record: alertRecord,
  log: ({ alert: kind, threshold: { signal } }) => ({ level: 'error', fields: { alert: kind, signal } }),
  metric: ({ alert: kind, threshold: { signal } }, metrics) => {
    metrics.alerted(kind, signal);
  },
};

export function alertRecord(effect: Alert): JournalRecord {
  return {
    type: 'alert',
    alert: effect.alert,
    ...readingOf(effect),
    ...stormOf(effect.decision),
    ...holdersOf(effect),
    message: alertMessage(effect),
  };
}
