import type { LoadedUnit } from './loaded-unit.js';
import type { Hold } from './restart-storm.js';

type Known = (name: string) => LoadedUnit | undefined;

/** What of a hold is started, in its order, and what is not: systemd would stop one that runs (Conflicts=, either way round) for it. */
export interface UnitStart {
  readonly start: readonly string[];
  readonly refusals: readonly StartRefusal[];
}

export interface StartRefusal {
  readonly unit: string;
  /** 'conflicts with fallback.service, which runs' */
  readonly reason: string;
  /** The one that runs. */
  readonly running: string;
}

/** Of a hold that is over, why not all of it is started, and what to do about it. */
export interface NotStarted {
  readonly reasons: readonly string[];
  readonly hint: string;
}

/** Systemd has said so, or was not asked because of who runs. */
export interface Refused extends NotStarted {
  /** Those that run, and are in the way. */
  readonly running: readonly string[];
}

/** What would trigger or need one that is left out is left out with it: that would start it, too. */
export function planUnitStart({ unit, start }: Pick<Hold, 'unit' | 'start'>, known: Known): UnitStart {
  const inTheWay = new Map<string, Omit<StartRefusal, 'unit'>>();
  for (const name of [unit, ...start]) {
    const running = known(name)?.conflicts.find((conflict) => !start.includes(conflict) && runs(known(conflict)));
    if (running !== undefined) inTheWay.set(name, { reason: `conflicts with ${running}, which runs`, running });
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

/** What has to be known for that, as far as is known already. */
export function startsOf({ unit, start }: Pick<Hold, 'unit' | 'start'>, known: Known): string[] {
  const names = [unit, ...start];
  return [...new Set([...names, ...names.flatMap((name) => known(name)?.conflicts ?? [])])];
}

/**
 * undefined: all of it is started. To start by hand what conflicts with one that runs would stop that one.
 *
 * @param errors  what systemd has said
 */
export function notStarted({ start, refusals }: UnitStart, errors: readonly string[]): Refused | undefined {
  if (refusals.length + errors.length === 0) return undefined;
  const running = [...new Set(refusals.map((refusal) => refusal.running))];
  const hints = [
    ...(errors.length === 0 ? [] : [`systemctl start ${start.join(' ')}`]),
    ...(refusals.length === 0
      ? []
      : [
          `when nobody needs ${running.join(', ')} any more: systemctl stop ${running.join(' ')} && systemctl start ${refusals.map(({ unit }) => unit).join(' ')}`,
        ]),
  ];
  return { reasons: [...refusals.map(({ unit, reason }) => `${unit} ${reason}`), ...errors], hint: hints.join('; '), running };
}

function runs(unit: LoadedUnit | undefined): boolean {
  return unit !== undefined && !['inactive', 'failed', 'deactivating'].includes(unit.activeState);
}
