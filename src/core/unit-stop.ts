import type { LoadedUnit, UnitRestart } from './loaded-unit.js';

/** How a unit that has to go is ended. All names sorted. */
export type UnitStop = (
  | {
      /** By systemd, which stops `dependants` with it. */
      readonly kind: 'stop';
      readonly dependants: readonly string[];
      /** Sockets and paths that would start it again: stopped before it. */
      readonly triggers: readonly string[];
      /** Timers that would: stopped where it is kept stopped. */
      readonly timers: readonly string[];
      /** Those of all these that are known to run now, and no targets: what was not running is not to be started again, nor all that a target stands for. */
      readonly running: readonly string[];
      /** It comes back by itself where only its processes are ended. */
      readonly restarts: boolean;
    }
  /** By signals to its cgroup. `unit`: the one that it is because of. */
  | { readonly kind: 'signal'; readonly because: SignalReason; readonly unit: string }
) & {
  /** What systemd stops or restarts though only its processes are ended. */
  readonly along: readonly string[];
};

/**
 * `protected`: systemd would stop it as well. `unknown`: nothing is known of it. `unsure`: more may hang on it than is known. `unreachable`: systemd cannot be asked. `elsewhere`: it is another cgroup that systemd
 * knows by this name. `inactive`: to systemd it does not run, and what is left in its cgroup would be left there. `transient`: it would be gone for good, though it restarts. `emergency-action`: systemd would stop a unit with
 * it whose end is the machine's.
 */
export type SignalReason = 'protected' | 'unknown' | 'unsure' | 'unreachable' | 'elsewhere' | 'inactive' | 'transient' | 'emergency-action';

/** Why a unit may not be evicted at all: systemd stops or restarts `unit`, which is protected, however it ends. */
export interface TakesAlong {
  readonly kind: 'takes-along';
  readonly unit: string;
  readonly how: 'stops' | 'restarts';
}

/** Why a unit may not be evicted at all: however it ends, it ends, or `unit` does with it, and systemd then reboots the machine, or does as much. */
export interface EmergencyAction {
  readonly kind: 'emergency-action';
  readonly unit: string;
  /** As a unit file has it: 'FailureAction=reboot'. */
  readonly setting: string;
}

export interface KnownUnits {
  /** undefined: nothing is known of it. */
  readonly unit: (name: string) => LoadedUnit | undefined;
  /** Beside those with ManagedOOMPreference=omit. */
  readonly isProtected: (unit: { readonly name: string; readonly controlGroup: string }) => boolean;
}

/**
 * What systemd does to others when a unit is stopped, and when it ends by a signal, decides how it may be ended. To be stopped takes along all of `stopsWith`, and what
 * hangs on these, and then whatever was there for these alone. To end by a signal takes along only `endsWith`, what hangs on these, and what was there for these alone; but systemd starts a service with Restart= again by a restart job, and
 * that restarts all of `stopsWith`, and leaves what it needs (seen with 252: test/systemd/unit-manager.test.ts).
 *
 * @param cgroup  the workload's: a name alone may be that of another one
 * @param forGood  nobody wants it back
 */
export function planUnitStop(name: string, cgroup: string, known: KnownUnits, forGood = false): UnitStop | TakesAlong | EmergencyAction {
  const unit = known.unit(name);
  const signal = (because: SignalReason, other = name, along: readonly string[] = []): UnitStop => ({
    kind: 'signal',
    because,
    unit: other,
    along,
  });
  if (unit === undefined) return signal('unknown');
  if (unit.controlGroup === '' || !isRunning(unit)) return signal('inactive');
  if (unit.controlGroup !== cgroup) return signal('elsewhere');
  const restarts = restartsWhenEnded(unit.restart) && unit.activeState !== 'deactivating';
  const restarted = restarts ? stoppedWith(unit.stopsWith, known, name) : new Set<string>();
  const ended = restarts ? stoppedWith(unit.endsWith, known, name) : goneWith(unit.endsWith, known, name);
  const protectedOne = (names: Iterable<string>): string | undefined => sorted(names).find((other) => isGuarded(other, known));
  const actionOf = (names: Iterable<string>): EmergencyAction | undefined =>
    [...names].map((other) => emergencyAction(known.unit(other))).find((action) => action !== undefined);
  const action = actionOf([name, ...sorted(ended), ...sorted(restarted)]);
  if (action !== undefined) return action;
  const alongWithSignal = protectedOne(ended);
  if (alongWithSignal !== undefined) return { kind: 'takes-along', unit: alongWithSignal, how: 'stops' };
  const alongWithRestart = protectedOne(restarted);
  if (alongWithRestart !== undefined) return { kind: 'takes-along', unit: alongWithRestart, how: 'restarts' };

  const along = sorted(restarts ? restarted : ended).filter((other) => isRunning(known.unit(other)));
  const triggers = unit.triggeredBy.filter((trigger) => isRunning(known.unit(trigger)) && known.unit(trigger)?.acceptsEach !== true);
  const all = goneWith([...unit.stopsWith, ...triggers], known, name);
  const guarded = protectedOne(all);
  if (guarded !== undefined) return signal('protected', guarded, along);
  const acting = actionOf(sorted(all));
  if (acting !== undefined) return signal('emergency-action', acting.unit, along);
  const unknown = sorted(all).find((other) => known.unit(other) === undefined);
  if (unknown !== undefined) return signal('unknown', unknown, along);
  const unsure = sorted([name, ...all]).find((other) => known.unit(other)?.unsure);
  if (unsure !== undefined) return signal('unsure', unsure, along);
  if (unit.transient && restarts && !forGood) return signal('transient', name, along);
  const isTimer = (trigger: string): boolean => trigger.endsWith('.timer');
  const dependants = sorted(goneWith([...unit.stopsWith, ...triggers.filter((trigger) => !isTimer(trigger))], known, name)).filter(
    (other) => isRunning(known.unit(other)) && !triggers.includes(other),
  );
  return {
    kind: 'stop',
    dependants,
    triggers: sorted(triggers.filter((trigger) => !isTimer(trigger))),
    timers: sorted(triggers.filter(isTimer)),
    running: [...dependants, ...triggers].filter((other) => isRunningForSure(known.unit(other))).sort(),
    restarts,
    along,
  };
}

/**
 * Of a unit and all that is stopped with it, those that have to be asked for before it is known for sure how it may be ended.
 *
 * @param sinceNs  what has changed since it was read, and that was before then, is asked for, too; left out: it counts as running
 */
export function unsettled(name: string, known: Pick<KnownUnits, 'unit'>, sinceNs = 0n): string[] {
  const { stopsWith = [], triggeredBy = [] } = known.unit(name) ?? {};
  const all = new Set([name, ...goneWith([...stopsWith, ...triggeredBy], known, name)]);
  const needs = [...all].flatMap((other) => known.unit(other)?.needs ?? []).filter((other) => !all.has(other));
  const neededBy = needs.flatMap((other) => known.unit(other)?.neededBy ?? []);
  const isUnsettled = (unit: LoadedUnit | undefined): boolean =>
    unit === undefined || unit.unsure || (unit.stale && unit.readAtNs < sinceNs);
  return [
    ...[...all].filter((other) => isUnsettled(known.unit(other))),
    ...new Set([...needs, ...neededBy].filter((other) => known.unit(other) === undefined)),
  ];
}

/** By SIGTERM, which many handle and leave with success, or by SIGKILL. */
function restartsWhenEnded(restart: UnitRestart): boolean {
  return restart !== 'no' && restart !== 'on-watchdog';
}

/** These and all that systemd stops with them, whether or not it is running, but for `name` itself. */
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

/** These, all that systemd stops with them, and what is not needed any more (StopWhenUnneeded=) when `name` and these are gone, with all that is stopped with that. */
function goneWith(names: readonly string[], known: Pick<KnownUnits, 'unit'>, name: string): Set<string> {
  const found = stoppedWith(names, known, name);
  for (;;) {
    const gone = new Set([name, ...found]);
    const unneeded = [...gone].flatMap((other) => known.unit(other)?.needs ?? []).filter((other) => isUnneeded(other, gone, known));
    if (unneeded.length === 0) return found;
    for (const other of stoppedWith(unneeded, known, name)) found.add(other);
  }
}

/** Whoever is not known to run keeps nobody. */
function isUnneeded(name: string, gone: ReadonlySet<string>, { unit }: Pick<KnownUnits, 'unit'>): boolean {
  const loaded = unit(name);
  if (gone.has(name) || !loaded?.stopWhenUnneeded || !isRunning(loaded)) return false;
  return !loaded.neededBy.some((other) => !gone.has(other) && unit(other)?.stale === false && isRunning(unit(other)));
}

/** Protected, and as far as is known it is there to be stopped. */
function isGuarded(name: string, { unit, isProtected }: KnownUnits): boolean {
  const loaded = unit(name);
  if (!isRunning(loaded)) return false;
  return loaded?.managedOomPreference === 'omit' || isProtected({ name: loaded?.name ?? name, controlGroup: loaded?.controlGroup ?? '' });
}

/**
 * Whoever runs ends one way or the other: stopped, or with success on SIGTERM (SuccessAction=), or failed (FailureAction=). Which one is not known before, so that each of
 * them counts.
 */
function emergencyAction(unit: LoadedUnit | undefined): EmergencyAction | undefined {
  if (unit?.emergencyAction === undefined || !isRunning(unit)) return undefined;
  return { kind: 'emergency-action', unit: unit.name, setting: unit.emergencyAction };
}

/** What has changed since it was read, or is not known, may be running. */
function isRunning(unit: LoadedUnit | undefined): boolean {
  return unit === undefined || unit.stale || (unit.activeState !== 'inactive' && unit.activeState !== 'failed');
}

/** systemd has said so, and of no change since. A target stands for others, which nobody has stopped; what is transient is gone. */
function isRunningForSure(unit: LoadedUnit | undefined): boolean {
  if (unit === undefined || unit.stale || unit.transient || unit.name.endsWith('.target')) return false;
  return unit.activeState === 'active' || unit.activeState === 'reloading' || unit.activeState === 'activating';
}

function sorted(names: Iterable<string>): string[] {
  return [...names].sort();
}
