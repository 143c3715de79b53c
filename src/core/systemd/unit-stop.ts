import type { LoadedUnit, UnitRestart } from './loaded-unit.js';

/** How a unit is ended. All names are sorted. */
export type UnitStop = (
  | {
      /** systemd stops the unit, with its `dependants`. */
      readonly kind: 'stop';
      readonly dependants: readonly string[];
      /** Sockets and paths that would start it again; stopped before it. */
      readonly triggers: readonly string[];
      /** Timers that would start it again; stopped if the unit is held. */
      readonly timers: readonly string[];
      /** Dependants that are known to run, without targets. Only these are started again. */
      readonly running: readonly string[];
      /** It restarts by itself if only its processes end. */
      readonly restarts: boolean;
    }
  /** evictd signals the processes of its cgroup. `unit`: the unit that is the reason. */
  | { readonly kind: 'signal'; readonly because: SignalReason; readonly unit: string }
) & {
  /** What systemd stops or restarts even if only its processes end. */
  readonly affected: readonly string[];
};

/**
 * `protected`: systemd would stop a protected unit too. `unknown`: `unit` is not loaded. `unsure`: more units may
 * depend on it than known. `unreachable`: no connection to systemd. `elsewhere`: systemd knows another cgroup by this
 * name. `inactive`: systemd reports the unit as inactive, and would leave the processes in its cgroup. `transient`: it
 * would be removed for good, though it restarts. `emergency-action`: systemd would stop a unit whose end reboots the
 * machine.
 */
export const SIGNAL_REASONS = [
  'protected',
  'unknown',
  'unsure',
  'unreachable',
  'elsewhere',
  'inactive',
  'transient',
  'emergency-action',
] as const;
export type SignalReason = (typeof SIGNAL_REASONS)[number];

/** The unit may not be evicted: systemd stops or restarts the protected `unit` with it in any case. */
export interface ProtectedDependant {
  readonly kind: 'protected-dependant';
  readonly unit: string;
  readonly how: 'stops' | 'restarts';
}

/**
 * The unit may not be evicted: its end, or that of `unit` with it, makes systemd reboot the machine or act similarly.
 */
export interface EmergencyAction {
  readonly kind: 'emergency-action';
  readonly unit: string;
  /** The setting as in a unit file: 'FailureAction=reboot'. */
  readonly setting: string;
}

export interface KnownUnits {
  /** undefined: not loaded. */
  readonly unit: (name: string) => LoadedUnit | undefined;
  /** Whether the unit is protected, beside units with ManagedOOMPreference=omit. */
  readonly isProtected: (unit: { readonly name: string; readonly controlGroup: string }) => boolean;
}

/**
 * Decides how a unit is ended. A stop also stops all of `stopsWith`, what depends on these, and units that are then
 * unneeded. A signal also ends only `endsWith`, what depends on these, and units that are then unneeded. But systemd
 * restarts a service with Restart= by a restart job, which restarts all of `stopsWith` and keeps what it needs (seen
 * with 252: test/systemd/unit-manager.test.ts).
 *
 * @param cgroup  the workload's; another cgroup may have the same name
 * @param forGood  the unit need not come back
 */
export function planUnitStop(
  name: string,
  cgroup: string,
  known: KnownUnits,
  forGood = false,
): UnitStop | ProtectedDependant | EmergencyAction {
  const unit = known.unit(name);
  const signal = (because: SignalReason, other = name, affected: readonly string[] = []): UnitStop => ({
    kind: 'signal',
    because,
    unit: other,
    affected,
  });
  if (unit === undefined) return signal('unknown');
  if (unit.controlGroup === '' || !isRunning(unit)) return signal('inactive');
  if (unit.controlGroup !== cgroup) return signal('elsewhere');
  const restarts = restartsWhenEnded(unit.restart) && unit.activeState !== 'deactivating';
  const restarted = restarts ? stoppedWith(unit.stopsWith, known, name) : new Set<string>();
  const ended = restarts ? stoppedWith(unit.endsWith, known, name) : endedWith(unit.endsWith, known, name);
  const protectedOne = (names: Iterable<string>): string | undefined => sorted(names).find((other) => isGuarded(other, known));
  const actionOf = (names: Iterable<string>): EmergencyAction | undefined =>
    [...names].map((other) => emergencyAction(known.unit(other))).find((action) => action !== undefined);
  const action = actionOf([name, ...sorted(ended), ...sorted(restarted)]);
  if (action !== undefined) return action;
  const protectedBySignal = protectedOne(ended);
  if (protectedBySignal !== undefined) return { kind: 'protected-dependant', unit: protectedBySignal, how: 'stops' };
  const protectedByRestart = protectedOne(restarted);
  if (protectedByRestart !== undefined) return { kind: 'protected-dependant', unit: protectedByRestart, how: 'restarts' };

  const affected = sorted(restarts ? restarted : ended).filter((other) => isRunning(known.unit(other)));
  const triggers = unit.triggeredBy.filter((trigger) => isRunning(known.unit(trigger)) && known.unit(trigger)?.acceptsEach !== true);
  const all = endedWith([...unit.stopsWith, ...triggers], known, name);
  const guarded = protectedOne(all);
  if (guarded !== undefined) return signal('protected', guarded, affected);
  const acting = actionOf(sorted(all));
  if (acting !== undefined) return signal('emergency-action', acting.unit, affected);
  const unknown = sorted(all).find((other) => known.unit(other) === undefined);
  if (unknown !== undefined) return signal('unknown', unknown, affected);
  const unsure = sorted([name, ...all]).find((other) => known.unit(other)?.unsure);
  if (unsure !== undefined) return signal('unsure', unsure, affected);
  if (unit.transient && restarts && !forGood) return signal('transient', name, affected);
  const isTimer = (trigger: string): boolean => trigger.endsWith('.timer');
  const dependants = sorted(endedWith([...unit.stopsWith, ...triggers.filter((trigger) => !isTimer(trigger))], known, name)).filter(
    (other) => isRunning(known.unit(other)) && !triggers.includes(other),
  );
  return {
    kind: 'stop',
    dependants,
    triggers: sorted(triggers.filter((trigger) => !isTimer(trigger))),
    timers: sorted(triggers.filter(isTimer)),
    running: [...dependants, ...triggers].filter((other) => isRunningForSure(known.unit(other))).sort(),
    restarts,
    affected,
  };
}

/**
 * The units that must be read before the plan is sure, among the unit and all that stops with it.
 *
 * @param sinceNs  also units that changed and were read before; left out: those count as running
 */
export function unitsToRead(name: string, known: Pick<KnownUnits, 'unit'>, sinceNs = 0n): string[] {
  const { stopsWith = [], triggeredBy = [] } = known.unit(name) ?? {};
  const all = new Set([name, ...endedWith([...stopsWith, ...triggeredBy], known, name)]);
  const needs = [...all].flatMap((other) => known.unit(other)?.needs ?? []).filter((other) => !all.has(other));
  const neededBy = needs.flatMap((other) => known.unit(other)?.neededBy ?? []);
  const isUnsettled = (unit: LoadedUnit | undefined): boolean =>
    unit === undefined || unit.unsure || (unit.stale && unit.readAtNs < sinceNs);
  return [
    ...[...all].filter((other) => isUnsettled(known.unit(other))),
    ...new Set([...needs, ...neededBy].filter((other) => known.unit(other) === undefined)),
  ];
}

/** Whether the unit restarts after SIGTERM, which many services handle and exit with success, or SIGKILL. */
function restartsWhenEnded(restart: UnitRestart): boolean {
  return restart !== 'no' && restart !== 'on-watchdog';
}

/** The given units and all that systemd stops with them, running or not, except `name`. */
function stoppedWith(names: readonly string[], { unit }: Pick<KnownUnits, 'unit'>, name: string): Set<string> {
  const found = new Set<string>();
  const add = (other: string): void => {
    if (other === name || found.has(other)) return;
    found.add(other);
    for (const next of unit(other)?.stopsWith ?? []) add(next);
  };
  for (const other of names) add(other);
  return found;
}

/**
 * These, all that systemd stops with them, and units that nothing needs then (StopWhenUnneeded=), with all that stops
 * with those.
 */
function endedWith(names: readonly string[], known: Pick<KnownUnits, 'unit'>, name: string): Set<string> {
  const found = stoppedWith(names, known, name);
  for (;;) {
    const gone = new Set([name, ...found]);
    const unneeded = [...gone].flatMap((other) => known.unit(other)?.needs ?? []).filter((other) => isUnneeded(other, gone, known));
    if (unneeded.length === 0) return found;
    for (const other of stoppedWith(unneeded, known, name)) found.add(other);
  }
}

/** A unit that is not known to run does not keep a needed one. */
function isUnneeded(name: string, gone: ReadonlySet<string>, { unit }: Pick<KnownUnits, 'unit'>): boolean {
  const loaded = unit(name);
  if (gone.has(name) || !loaded?.stopWhenUnneeded || !isRunning(loaded)) return false;
  return !loaded.neededBy.some((other) => !gone.has(other) && unit(other)?.stale === false && isRunning(unit(other)));
}

/** Protected, and perhaps running. */
function isGuarded(name: string, { unit, isProtected }: KnownUnits): boolean {
  const loaded = unit(name);
  if (!isRunning(loaded)) return false;
  return loaded?.managedOomPreference === 'omit' || isProtected({ name: loaded?.name ?? name, controlGroup: loaded?.controlGroup ?? '' });
}

/**
 * A running unit ends stopped, with success (SuccessAction=) or failed (FailureAction=). The way is not known in
 * advance, so either counts.
 */
function emergencyAction(unit: LoadedUnit | undefined): EmergencyAction | undefined {
  if (unit?.emergencyAction === undefined || !isRunning(unit)) return undefined;
  return { kind: 'emergency-action', unit: unit.name, setting: unit.emergencyAction };
}

/** A unit that changed since it was read, or is not known, may be running. */
function isRunning(unit: LoadedUnit | undefined): boolean {
  return unit === undefined || unit.stale || (unit.activeState !== 'inactive' && unit.activeState !== 'failed');
}

/** systemd reported it as running, and no change since. Targets stand for other units, and transient units are removed. */
function isRunningForSure(unit: LoadedUnit | undefined): boolean {
  if (unit === undefined || unit.stale || unit.transient || unit.name.endsWith('.target')) return false;
  return ['active', 'reloading', 'refreshing', 'activating'].includes(unit.activeState);
}

function sorted(names: Iterable<string>): string[] {
  return [...names].sort();
}
