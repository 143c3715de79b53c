import { resumeMessage } from '../../core/budget/lifted-pauses.js';
import type { Effect } from '../../core/decide/effect.js';
import { pauseMessage } from '../../core/message/pause-message.js';
import { taintMessage } from '../../core/message/taint-message.js';
import { drainMessage } from '../../core/message/drain-message.js';
import type { EffectHandler } from './handler.js';

/** An operator's pause begins or is over. */
export const pause: EffectHandler<Extract<Effect, { kind: 'pause' }>> = {
  record: (effect) => {
    const { workload, reason, beganBootNs, endsBootNs, by } = effect.pause;
    return {
      type: 'pause',
      event: effect.event,
      ...(workload && { workload: { ...workload } }),
      reason,
      seconds: Number(endsBootNs - beganBootNs) / 1e9,
      ...(effect.event === 'begin' && { by }),
      ...(effect.event === 'end' && { because: effect.because }),
      message: pauseMessage(effect),
    };
  },
  isRecordedFirst: true,
  log: ({ pause: { workload } }) => ({ level: 'warn', fields: { ...(workload && { workload: workload.path }) } }),
};

/** An operator ends all pauses. */
export const resume: EffectHandler<Extract<Effect, { kind: 'resume' }>> = {
  record: ({ lifted, by }) => ({
    type: 'resume',
    by,
    evictions: Object.fromEntries(lifted.evictions),
    withoutYield: lifted.withoutYield,
    leak: lifted.leak,
    ...(lifted.pauses.length > 0 && {
      pauses: lifted.pauses.map(({ workload, reason }) => ({ ...(workload && { workload: { ...workload } }), reason })),
    }),
    message: resumeMessage(lifted, by),
  }),
  isRecordedFirst: true,
  log: () => ({ level: 'warn', fields: {} }),
};

/** An operator sets or removes a taint; a workload tolerates one for a time, or its eviction is cancelled. */
export const taint: EffectHandler<Extract<Effect, { kind: 'taint' }>> = {
  record: (effect) => ({
    type: 'taint',
    event: effect.event,
    taint: effect.taint,
    ...('by' in effect && { by: effect.by }),
    ...('workload' in effect && { workload: { ...effect.workload } }),
    ...(effect.event === 'waits' && { seconds: Number(effect.forNs) / 1e9 }),
    message: taintMessage(effect),
  }),
  isRecordedFirst: true,
  log: (effect) => ({ level: 'warn', fields: { taint: effect.taint, ...('workload' in effect && { workload: effect.workload.path }) } }),
};

/** An operator cordons, drains or uncordons the node, or a drain is over. */
export const drain: EffectHandler<Extract<Effect, { kind: 'drain' }>> = {
  record: (effect) => ({
    type: 'drain',
    event: effect.event,
    ...(effect.event === 'end' && { because: effect.because }),
    by: effect.by,
    total: effect.total,
    left: effect.left,
    message: drainMessage(effect),
  }),
  isRecordedFirst: true,
  log: ({ total, left }) => ({ level: 'warn', fields: { total, left: left.length } }),
};
