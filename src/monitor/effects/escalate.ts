import type { Effect } from '../../core/decide/effect.js';
import { stopMethodOf } from '../../core/message/stop-method.js';
import { victimName } from '../../core/workload/process.js';
import { victimOf } from '../../journal/records/ranking-row.js';
import type { EffectHandler } from './handler.js';

/** SIGTERM did not end the victim in time, or may not wait: SIGKILL. */
export const escalate: EffectHandler<Extract<Effect, { kind: 'escalate' }>> = {
  record: ({ decision: { serial, victim }, reason }) => ({
    type: 'escalation',
    decision: serial,
    victim: victimOf(victim),
    reason,
    message: `${reason}: ${stopMethodOf(victim.workload).kill} for ${victimName(victim)}`,
  }),
  isRecordedFirst: true,
  isSignal: () => true,
  perform: ({ decision }, { victims }) => {
    victims.escalate(decision);
  },
  log: ({ decision }) => ({ level: 'warn', fields: { decision: decision.serial } }),
};
