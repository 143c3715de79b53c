import { basename, dirname } from 'node:path';
import { compileGlob } from '../../../core/workload/glob.js';
import type { Assignment } from './unit-file.js';
import type { UnitPlace } from './unit-place.js';

/** A unit file or a drop-in. */
export interface PlacedFile {
  readonly file: string;
  readonly place: UnitPlace;
  readonly assignments: readonly Assignment[];
}

/** A unit that files name. */
export interface Unit {
  readonly place: UnitPlace;
  /** Settings by key, as systemd merges them: also from drop-ins of units with a more general name. */
  readonly settings: ReadonlyMap<string, Assignment>;
  /** The assignments of the files that name this unit. */
  readonly own: readonly Assignment[];
}

export function unitsOf(files: readonly PlacedFile[]): Unit[] {
  const byUnit = mapBy(
    files,
    ({ place }) => unitKey(place),
    ([first]) => first?.place,
  );
  return [...byUnit.values()].flatMap((place) => {
    if (place === undefined) return [];
    const own = files.filter((file) => unitKey(file.place) === unitKey(place));
    const general = files
      .filter((file) => isMoreGeneral(file.place, place))
      .toSorted((a, b) => a.place.names.length - b.place.names.length);
    const settings = settingsOf(inOrder(applied([...general, ...own])).flatMap(({ assignments }) => assignments));
    return [{ place, settings, own: own.flatMap(({ assignments }) => assignments) }];
  });
}

/**
 * Whether systemd applies the drop-ins of one unit to the other, too: those of `user-.slice`, `user@.service` and
 * `service` to units of that prefix, template or type (systemd.unit(5)).
 */
export function isMoreGeneral(general: UnitPlace, unit: UnitPlace): boolean {
  return general.manager === unit.manager && general.names !== unit.names && compileGlob(general.names).test(unit.names);
}

/** The files that count. Of drop-ins with one name that of the more specific unit does. */
function applied(files: readonly PlacedFile[]): PlacedFile[] {
  const isMasked = (file: PlacedFile, index: number): boolean =>
    files.slice(index + 1).some((later) => dropInOf(later) === dropInOf(file) && unitKey(later.place) !== unitKey(file.place));
  return files.filter((file, index) => !isMasked(file, index));
}

/** systemd's order: the file itself, then its drop-ins by name. */
export function inOrder<T extends { readonly file: string }>(files: readonly T[]): T[] {
  return files.toSorted((a, b) => order(dropInOf(a), dropInOf(b)));
}

/** The name of a drop-in; '': another file. */
function dropInOf({ file }: { readonly file: string }): string {
  return dirname(file).endsWith('.d') ? basename(file) : '';
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function unitKey({ manager, unit }: UnitPlace): string {
  return `${manager} ${unit}`;
}

/** The last assignment of each key. An empty one unsets it (systemd.syntax(7)). */
export function lastOf(assignments: readonly Assignment[]): ReadonlyMap<string, Assignment> {
  const last = new Map(assignments.map((each) => [each.key, each]));
  return new Map([...last].filter(([, { value }]) => value !== ''));
}

/** OOMRules= adds to the ones before; an empty one resets the list. */
export function rulesOf(settings: ReadonlyMap<string, Assignment>): readonly string[] {
  return [...new Set((settings.get('OOMRules')?.value ?? '').split(/\s+/).filter((name) => name !== ''))];
}

function settingsOf(assignments: readonly Assignment[]): ReadonlyMap<string, Assignment> {
  const rules = assignments.filter(({ key }) => key === 'OOMRules');
  const since = rules.slice(rules.findLastIndex(({ value }) => value === '') + 1);
  const [first] = since;
  const all = first && { ...first, value: since.map(({ value }) => value).join(' ') };
  const settings = new Map(lastOf(assignments));
  if (all === undefined) settings.delete('OOMRules');
  else settings.set('OOMRules', all);
  return settings;
}

export function mapBy<T, V>(items: readonly T[], key: (item: T) => string, value: (group: readonly T[]) => V): Map<string, V> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return new Map([...groups].map(([name, group]) => [name, value(group)]));
}
