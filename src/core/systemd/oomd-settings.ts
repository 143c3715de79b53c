import type { ManagedUnit } from './managed-unit.js';

/** Defaults of systemd-oomd for all units (oomd.conf(5)). Ratios are 0..1. */
export interface OomdSettings {
  /** The limit of both memory and swap: both must be used to more than this share. */
  readonly swapUsedLimit: number;
  readonly pressureLimit: number;
  readonly pressureDurationNs: bigint;
}

/** An .oomrule file, which units name in OOMRules= (oomd.conf(5), OOM Rulesets; systemd 261). */
export interface OomRule {
  readonly name: string;
  /** MemoryPressureAbove=. Left out: no condition. */
  readonly pressureAbove?: number;
  /** SwapUsageMax=: more of the swap than this is used. Left out: no condition. */
  readonly swapAbove?: number;
  readonly action: OomRuleAction;
  /** LastingSec= */
  readonly lastingNs: bigint;
}

/** What units ask of systemd-oomd, and what its own files say. */
export interface ManagedSettings {
  readonly units: readonly ManagedUnit[];
  readonly settings: OomdSettings;
  readonly rules: readonly OomRule[];
  /** systemd-oomd runs: it acts on these units. */
  readonly isLeftToOomd: boolean;
}

const ACTIONS = ['kill-all', 'kill-by-pgscan', 'kill-by-swap'] as const;
export type OomRuleAction = (typeof ACTIONS)[number];

/** oomd-manager.h and oomd.conf(5). */
export const OOMD_DEFAULTS: OomdSettings = { swapUsedLimit: 0.9, pressureLimit: 0.6, pressureDurationNs: 30_000_000_000n };

/**
 * The settings of these files, where a later one wins. A value that cannot be read counts as not set, as in systemd.
 *
 * @param texts  oomd.conf, then the drop-ins in their order
 */
export function readOomdSettings(texts: readonly string[]): OomdSettings {
  const set = assignments(texts, 'OOM');
  const duration = timeSpanNs(set.get('DefaultMemoryPressureDurationSec'));
  return {
    swapUsedLimit: ratio(set.get('SwapUsedLimit')) ?? OOMD_DEFAULTS.swapUsedLimit,
    pressureLimit: ratio(set.get('DefaultMemoryPressureLimit')) ?? OOMD_DEFAULTS.pressureLimit,
    pressureDurationNs: duration === undefined || duration === 0n ? OOMD_DEFAULTS.pressureDurationNs : duration,
  };
}

/** undefined: it has no valid action, or a value that cannot be read: without a condition it would kill at once. */
export function readOomRule(name: string, text: string): OomRule | undefined {
  const set = assignments([text], 'Rule');
  const action = ACTIONS.find((each) => each === set.get('Action'));
  const [pressureAbove, swapAbove] = [ratio(set.get('MemoryPressureAbove')), ratio(set.get('SwapUsageMax'))];
  const lastingNs = set.has('LastingSec') ? timeSpanNs(set.get('LastingSec')) : 0n;
  if (action === undefined || lastingNs === undefined) return undefined;
  if (pressureAbove === undefined && (swapAbove === undefined || set.has('MemoryPressureAbove'))) return undefined;
  if (swapAbove === undefined && set.has('SwapUsageMax')) return undefined;
  return { name, action, lastingNs, ...(pressureAbove !== undefined && { pressureAbove }), ...(swapAbove !== undefined && { swapAbove }) };
}

/** The last assignment of each key in a section (systemd.syntax(7)). An empty one unsets the key. */
function assignments(texts: readonly string[], wanted: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const text of texts) {
    let section: string | undefined;
    for (const line of text.replaceAll(/\\\n/g, ' ').split('\n')) {
      section = /^\s*\[(.*)\]\s*$/.exec(line)?.[1] ?? section;
      const [, key, value = ''] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      if (key === undefined || section !== wanted) continue;
      if (value === '') found.delete(key);
      else found.set(key, value);
    }
  }
  return found;
}

const PARTS: Readonly<Record<string, number>> = { '%': 100, '‰': 1000, '‱': 10_000 };

/** '60%', '600‰', '6000‱', from 0 to 1. */
export function ratio(text: string | undefined): number | undefined {
  const [, number = '', sign = ''] = /^(\d+(?:\.\d{1,2})?)([%\u2030\u2031])$/.exec(text ?? '') ?? [];
  const value = Number(number) / (PARTS[sign] ?? 0);
  return value <= 1 ? value : undefined;
}

const UNITS_US: readonly (readonly [names: RegExp, us: number])[] = [
  [/^(?:us|usec|\u00b5s|\u03bcs)$/, 1],
  [/^(?:ms|msec)$/, 1_000],
  [/^(?:|s|sec|second|seconds)$/, 1_000_000],
  [/^(?:m|min|minute|minutes)$/, 60_000_000],
  [/^(?:h|hr|hour|hours)$/, 3_600_000_000],
  [/^(?:d|day|days)$/, 86_400_000_000],
];

/** '1min 30s', '20' (seconds); undefined: no time span, or an infinite one. */
export function timeSpanNs(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^(\s*\d+(\.\d+)?\s*[a-z\u00b5\u03bc]*)+$/i.test(text)) return undefined;
  let us = 0;
  for (const [, number = '', name = ''] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z\u00b5\u03bc]*)/gi)) {
    const unit = UNITS_US.find(([names]) => names.test(name));
    if (unit === undefined) return undefined;
    us += Number(number) * unit[1];
  }
  return BigInt(Math.round(us)) * 1000n;
}
