import { resumeMessage } from '../../core/budget/lifted-pauses.js';
import type { Effect } from '../../core/decide/effect.js';
import type { EffectHandler } from './handler.js';

export const resume: EffectHandler<Extract<Effect, { kind: 'resume' }>> = {
  record: ({ lifted }) => ({
    type: 'resume',
    evictions: Object.fromEntries(lifted.evictions),
    withoutYield: lifted.withoutYield,
    leak: lifted.leak,
    message: resumeMessage(lifted),
  }),
  isRecordedFirst: true,
  log: () => ({ level: 'warn', fields: {} }),
};
