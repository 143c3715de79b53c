import type { Effect } from '../../core/decide/effect.js';
import type { EffectHandler } from './handler.js';

export const condition: EffectHandler<Extract<Effect, { kind: 'condition' }>> = {
  record: ({ type, status }) => ({
    type: 'condition',
    condition: type,
    status,
    message: `node condition ${type} is now ${String(status)}`,
  }),
  log: ({ type, status }) => ({ level: status ? 'warn' : 'info', fields: { condition: type, status } }),
  metric: ({ type, status }, metrics) => {
    metrics.condition(type, status);
  },
};
