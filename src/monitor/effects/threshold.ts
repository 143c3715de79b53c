import type { Effect } from '../../core/decide/effect.js';
import { thresholdMessage } from '../../core/message/message.js';
import { thresholdKind } from '../../core/threshold/threshold.js';
import { joinedOf, readingOf } from '../../journal/records/reading-record.js';
import type { EffectHandler } from './handler.js';

export const threshold: EffectHandler<Extract<Effect, { kind: 'threshold' }>> = {
  record: (effect) => {
    const { observation, threshold: of, met, over } = effect;
    const reading = observation ? readingOf({ ...effect, observation }) : { signal: of.signal, ...joinedOf(effect) };
    const end = over && { timesMet: over.timesMet, clearForSeconds: Number(over.clearForNs / 1_000_000n) / 1e3 };
    return { type: 'threshold', met, ...reading, ...end, message: thresholdMessage(effect) };
  },
  log: ({ threshold: { signal }, met }) => ({ level: met ? 'warn' : 'info', fields: { signal } }),
  metric: ({ threshold: of, met }, metrics) => {
    if (met) metrics.thresholdMet(of.signal, thresholdKind(of));
  },
};
