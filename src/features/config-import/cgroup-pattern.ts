import { compileGlob, isLiteral } from '../../core/workload/glob.js';

/** The cgroups that oomd names: `system.slice`, `workload.slice/*`, `/` for the machine. */
export type CgroupPattern = readonly string[];

/** The pattern as evictd writes it; undefined: the machine. */
export function scopeText(pattern: CgroupPattern): string | undefined {
  return pattern.length === 0 ? undefined : `/${pattern.join('/')}`;
}

/** Whether everything that the other pattern matches is a cgroup that this one matches, or below one. */
export function contains(pattern: CgroupPattern, other: CgroupPattern): boolean {
  return pattern.length <= other.length && pattern.every((segment, index) => includes(segment, other[index] ?? ''));
}

function includes(segment: string, other: string): boolean {
  return segment === other || segment === '*' || (isLiteral(other) && compileGlob(segment).test(other));
}

/** Whether evictd's patterns can say it: `*` and `?` within a segment only. */
export function isPlainGlob(pattern: CgroupPattern): boolean {
  return pattern.every((segment) => !/[[\]{}]|\*\*/.test(segment));
}

/** Whether it names one cgroup. */
export function isOne(pattern: CgroupPattern): boolean {
  return isPlainGlob(pattern) && pattern.every((segment) => !/[*?]/.test(segment));
}

/** A source of `workloads` for what a pattern names, and what of the pattern it cannot say. */
export interface PatternSource {
  readonly source: Readonly<Record<string, unknown>>;
  readonly wider?: string;
}

/**
 * The source whose workloads are the cgroups of a pattern; undefined: evictd has none.
 *
 * A unit by its name, wherever it is; else the slice above the first wildcard, with every unit below it; else the
 * children of a cgroup.
 */
export function sourceOf(pattern: CgroupPattern): PatternSource | undefined {
  const last = pattern.at(-1);
  if (last === undefined) return undefined;
  if (/\.(service|scope)$/.test(last) && last !== '*.service' && last !== '*.scope') return { source: { systemd: { units: [last] } } };
  const firstGlob = pattern.findIndex((segment) => /[*?]/.test(segment));
  const fixed = firstGlob === -1 ? pattern : pattern.slice(0, firstGlob);
  const parent = fixed.at(-1);
  if (parent === undefined) return undefined;
  const isExact = firstGlob === -1 || (firstGlob === pattern.length - 1 && last === '*');
  const wider = isExact ? {} : { wider: `evictd takes every workload below /${fixed.join('/')}` };
  if (parent.endsWith('.slice')) return { source: { systemd: { slices: [parent] } }, ...wider };
  return { source: { cgroup: `/${fixed.join('/')}` }, ...wider };
}
