import { formatDuration } from '../quantity/duration.js';
import type { Decision, Outcome, UnitDecision } from '../decide/eviction.js';
import { stopMethodOf } from './stop-method.js';
import type { Hold } from '../systemd/unit-hold.js';
import type { NotStarted } from '../systemd/unit-start.js';
import type { UnitStop } from '../systemd/unit-stop.js';

/**
 * 'systemd, SIGKILL after 10s', 'SIGTERM, SIGKILL after 10s', 'SIGKILL', 'SIGKILL and systemd', on Windows
 * 'TerminateProcess'.
 */
export function stopMethodText({ graceNs, unit, victim }: Pick<Decision, 'graceNs' | 'unit' | 'victim'>): string {
  const { ask, kill } = stopMethodOf(victim.workload);
  const isGraceful = graceNs > 0n;
  if (isGraceful) return `${unit?.stop?.kind === 'stop' ? 'systemd' : ask}, ${kill} after ${formatDuration(graceNs)}`;
  return unit?.hold ? `${kill} and systemd` : kill;
}

/**
 * '; systemd also stops a.service and a.socket; batch.service stays stopped until MemoryPressure clears', or nothing.
 */
export function unitText({ graceNs, unit, decidedAtNs }: Pick<Decision, 'graceNs' | 'unit' | 'decidedAtNs'>): string {
  if (unit === undefined) return '';
  const stopped = stoppedUnits(unit, graceNs > 0n);
  const alsoStopped = stopped.length === 0 ? '' : `; systemd also stops ${stopped.join(', ')}`;
  const not = unit.stop?.kind === 'signal' ? `; by signals, because ${signalReason(unit.stop)}` : '';
  return `${alsoStopped}${not}${unit.hold ? `; it is kept stopped ${untilText(unit.hold, unit, decidedAtNs)}` : ''}`;
}

/** What systemd stops besides the unit, as known at the decision. Timers only if the unit is held. */
export function stoppedUnits({ stop, hold }: UnitDecision, isGraceful: boolean): readonly string[] {
  if (stop?.kind !== 'stop' || (!isGraceful && hold === undefined)) return [];
  return [...stop.dependants, ...stop.triggers, ...(hold ? stop.timers : [])];
}

export function signalReason({ because, unit }: Extract<UnitStop, { kind: 'signal' }>): string {
  switch (because) {
    case 'protected':
      return `systemd would also stop ${unit}, which is protected`;
    case 'emergency-action':
      return `systemd would also stop ${unit}, whose end may reboot the machine`;
    case 'unknown':
      return `what systemd would also stop is not known (${unit} is not known)`;
    case 'unsure':
      return `systemd did not report in time which units depend on ${unit}`;
    case 'elsewhere':
      return `systemd knows another cgroup as ${unit}`;
    case 'inactive':
      return 'systemd reports the unit as inactive';
    case 'transient':
      return 'it restarts, and has no unit file to start it from';
    case 'unreachable':
      return 'there is no connection to systemd';
  }
}

/** 'batch.service was evicted 3 times in ten minutes; it stays stopped until MemoryPressure clears'. */
export function stormText({ victim, unit, decidedAtNs }: Decision): string {
  if (unit === undefined) return victim.workload.name;
  const times = `${victim.workload.name} is evicted for the ${ordinal(unit.evictions)} time in ten minutes`;
  if (unit.hold) return `${times}; it is kept stopped ${untilText(unit.hold, unit, decidedAtNs)}`;
  if (unit.stop === undefined) return `${times}, and comes back: evictd cannot stop units of a user's manager`;
  if (unit.stop.kind === 'signal') return `${times}, and cannot be kept stopped: ${signalReason(unit.stop)}`;
  return `${times}: something other than systemd starts it again`;
}

/** '; systemd also stopped a.service, a.socket', from its answer, or nothing. */
export function stoppedText({ decision, systemd }: Pick<Outcome, 'decision' | 'systemd'>): string {
  if (systemd === undefined) return '';
  const others = systemd.units.filter((name) => name !== decision.victim.workload.unit?.name);
  const stopped = others.length === 0 ? '' : `; systemd also stops ${others.join(', ')}`;
  return systemd.errors.length === 0 ? stopped : `${stopped}; systemd refuses: ${systemd.errors.join('; ')}`;
}

export function releaseText({ unit, start }: Hold): string {
  const others = start.filter((name) => name !== unit);
  const what = start.includes(unit) ? [unit, ...others] : others;
  return `starting ${what.join(', ')} again: ${unit} was kept stopped`;
}

/** 'batch.service was kept stopped; not started: batch.service conflicts with fallback.service, which is running'. */
export function notStartedText(unit: string, { reasons }: Pick<NotStarted, 'reasons'>): string {
  return `${unit} was kept stopped; not started again: ${reasons.join('; ')}`;
}

function untilText({ condition, untilNs }: Hold, { evictions }: UnitDecision, decidedAtNs: bigint): string {
  if (untilNs === undefined) return `until ${condition} has cleared`;
  const time = formatDuration(untilNs - decidedAtNs);
  return `for ${time}, or as long as a threshold of ${condition} is met (${ordinal(evictions)} eviction in ten minutes)`;
}

/** '1st', '2nd', '3rd', '11th'. */
export function ordinal(count: number): string {
  const lastTwo = count % 100;
  const suffix = lastTwo >= 11 && lastTwo <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${String(count)}${suffix}`;
}
