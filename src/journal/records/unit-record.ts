import type { Decision, Outcome } from '../../core/decide/eviction.js';
import { meansOf } from '../../core/message/stop-method.js';
import { goesWith, signalReason } from '../../core/message/unit-message.js';
import { victimOf } from './ranking-row.js';

export function actionOf({ graceNs, unit, victim }: Decision): string {
  const { ask, kill } = meansOf(victim.workload);
  if (graceNs > 0n) return unit?.stop?.kind === 'stop' ? 'systemd stop' : ask;
  return kill;
}

/** What a decision has for a systemd unit beside the fields of every victim. */
export function unitOf({ victim: { workload }, graceNs, unit }: Decision): Record<string, unknown> {
  if (unit === undefined || workload.unit === undefined) return {};
  const { stop, hold, evictions } = unit;
  return {
    unit: {
      name: workload.unit.name,
      manager: workload.unit.manager,
      evictions,
      ...(stop?.kind === 'stop' ? { stopsWith: goesWith(unit, graceNs > 0n) } : {}),
      ...(stop !== undefined && stop.along.length > 0 && graceNs === 0n ? { takesAlong: stop.along } : {}),
      ...(stop?.kind === 'signal' ? { signalledBecause: signalReason(stop) } : {}),
      ...(hold ? { keptStopped: hold.untilNs === undefined ? `until ${hold.condition} has cleared` : 'back-off', start: hold.start } : {}),
    },
  };
}

export function stormOf(decision: Decision | undefined): Record<string, unknown> {
  if (decision?.unit === undefined) return {};
  return { decision: decision.serial, victim: victimOf(decision.victim), evictions: decision.unit.evictions };
}

/** systemd's answer: the units that were stopped with the victim. */
export function stoppedWith({ decision, systemd }: Outcome): Record<string, unknown> {
  if (systemd === undefined) return {};
  const own = decision.victim.workload.unit?.name;
  return {
    stoppedWith: systemd.units.filter((name) => name !== own),
    ...(systemd.errors.length === 0 ? {} : { systemdErrors: systemd.errors }),
  };
}
