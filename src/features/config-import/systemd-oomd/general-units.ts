import type { MigratedPolicy, Note } from '../migration.js';
import { isMoreGeneral, type Unit } from './unit-settings.js';

/** Policies by their unit. */
export type UnitPolicies = ReadonlyMap<Unit, readonly MigratedPolicy[]>;

/**
 * The policies where units with a general name (`user-.slice`) match others of the files (`user-1000.slice`). If the
 * other unit has the same policies, the general ones are enough. If not, the general ones only notify: the unit may be
 * exempt or have another limit, and a scope cannot exclude it.
 */
export function separated(policies: UnitPolicies): UnitPolicies {
  const units = [...policies.keys()];
  const isSame = (a: Unit, b: Unit): boolean => effectOf(policies.get(a)) === effectOf(policies.get(b));
  const exceptionsOf = (general: Unit): Unit[] =>
    units.filter((unit) => isMoreGeneral(general.place, unit.place) && !isSame(general, unit));
  const isIncluded = (unit: Unit): boolean =>
    units.some((general) => isMoreGeneral(general.place, unit.place) && isSame(general, unit) && exceptionsOf(general).length === 0);
  return new Map(
    [...policies].map(([unit, own]) => {
      const exceptions = exceptionsOf(unit);
      return [unit, isIncluded(unit) ? [] : exceptions.length === 0 ? own : onlyNotifying(own, unit, exceptions)];
    }),
  );
}

function onlyNotifying(policies: readonly MigratedPolicy[], { place, own }: Unit, exceptions: readonly Unit[]): MigratedPolicy[] {
  const names = exceptions.map((unit) => unit.place.unit).join(', ');
  const text = `${names}: these units have other settings, and a scope cannot exclude them. This policy has only the step \`notify\``;
  const note: Note = { setting: place.unit, position: own[0]?.position ?? { file: place.unit }, text };
  return policies.map((policy) => ({ ...policy, notes: [...policy.notes, note], then: ['notify'] }));
}

/** When and how policies act, without their scope and comments. */
function effectOf(policies: readonly MigratedPolicy[] = []): string {
  return JSON.stringify(policies.map(({ when, for: lasting, unless, cooldown, then }) => [when, lasting, unless, cooldown, then]));
}
