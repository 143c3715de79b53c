import type { LoadedUnit } from './loaded-unit.js';
import type { Hold } from './unit-hold.js';

type Known = (name: string) => LoadedUnit | undefined;

/**
 * What of a hold is started, in order. The rest is refused, because systemd would stop a running unit for it
 * (Conflicts= on either side).
 */
export interface UnitStart {
  readonly start: readonly string[];
  readonly refusals: readonly StartRefusal[];
}

export interface StartRefusal {
  readonly unit: string;
  /** 'conflicts with fallback.service, which is running' */
  readonly reason: string;
  /** The running unit that conflicts. */
  readonly running: string;
}

/** Why a part of an ended hold is not started, and what to do. */
export interface NotStarted {
  readonly reasons: readonly string[];
  readonly hint: string;
}

/** systemd refused, or was not asked because of running units. */
export interface Refused extends NotStarted {
  /** The running units that conflict. */
  readonly running: readonly string[];
}

/** A refused unit also refuses the units that would trigger or need it. */
export function planUnitStart({ unit, start }: Pick<Hold, 'unit' | 'start'>, known: Known): UnitStart {
  const inTheWay = new Map<string, Omit<StartRefusal, 'unit'>>();
  for (const name of [unit, ...start]) {
    const running = known(name)?.conflicts.find((conflict) => !start.includes(conflict) && runs(known(conflict)));
    if (running !== undefined) inTheWay.set(name, { reason: `conflicts with ${running}, which is running`, running });
  }
  for (let before = -1; before !== inTheWay.size;) {
    before = inTheWay.size;
    for (const name of start) {
      const isStartedBy = (other: string): boolean =>
        known(other)?.triggeredBy.includes(name) === true || known(name)?.needs.includes(other) === true;
      const cause = [...inTheWay].find(([other]) => isStartedBy(other));
      if (cause === undefined || inTheWay.has(name)) continue;
      const [other, { reason, running }] = cause;
      inTheWay.set(name, { reason: `would start ${other}, which ${reason}`, running });
    }
  }
  return {
    start: start.filter((name) => !inTheWay.has(name)),
    refusals: start.flatMap((name) => {
      const refusal = inTheWay.get(name);
      return refusal === undefined ? [] : [{ unit: name, ...refusal }];
    }),
  };
}

/** The units that the plan depends on, as far as known. */
export function startsOf({ unit, start }: Pick<Hold, 'unit' | 'start'>, known: Known): string[] {
  const names = [unit, ...start];
  return [...new Set([...names, ...names.flatMap((name) => known(name)?.conflicts ?? [])])];
}

/**
 * undefined: all of it is started.
 *
 * @param errors  systemd's answers
 */
export function notStarted({ start, refusals }: UnitStart, errors: readonly string[]): Refused | undefined {
  if (refusals.length + errors.length === 0) return undefined;
  const running = [...new Set(refusals.map((refusal) => refusal.running))];
  const hints = [
    ...(errors.length === 0 ? [] : [`systemctl start ${start.join(' ')}`]),
    ...(refusals.length === 0
      ? []
      : [
          `when ${running.join(', ')} is no longer needed: systemctl stop ${running.join(' ')} && systemctl start ${refusals.map(({ unit }) => unit).join(' ')}`,
        ]),
  ];
  return { reasons: [...refusals.map(({ unit, reason }) => `${unit} ${reason}`), ...errors], hint: hints.join('; '), running };
}

function runs(unit: LoadedUnit | undefined): boolean {
  return unit !== undefined && !['inactive', 'failed', 'deactivating'].includes(unit.activeState);
}
