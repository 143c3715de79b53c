import type { Effect } from '../../core/decide/effect.js';
import { thresholdMessage } from '../../core/message/message.js';
import { thresholdKind } from '../../core/threshold/threshold.js';
import { joinedOf, readingOf } from '../../journal/records/reading-record.js';
import type { EffectHandler } from './handler.js';

export const threshold: EffectHandler<Extract<Effect, { kind: 'threshold' }>> = {
  record: (effect) => {
    const { observation, threshold: of, met } = effect;
    const reading = observation ? readingOf({ ...effect, observation }) : { signal: of.signal, ...joinedOf(effect) };
    return { type: 'threshold', met, ...reading, message: thresholdMessage(effect) };
  },
  log: ({ threshold: { signal }, met }) => ({ level: met ? 'warn' : 'info', fields: { signal } }),
  metric: ({ threshold: of, met }, metrics) => {
    if (met) metrics.thresholdMet(of.signal, thresholdKind(of));
  },
};
