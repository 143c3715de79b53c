import type { Effect } from '../../core/decide/effect.js';
import type { EffectHandler } from './handler.js';

/** The step could not be made. It may come with every step: the reporter logs it once. */
export const error: EffectHandler<Extract<Effect, { kind: 'error' }>> = {
  record: ({ message }) => ({ type: 'error', message }),
  perform: ({ message }, { reporter }) => {
    reporter.stepFailed(message);
  },
};
