import type { AmountSignal } from '../core/signal.js';
import { valueText, type ThresholdValue } from '../core/threshold.js';
import type { Entry } from './eviction.js';
import type { Layers } from './layered.js';
import type { Profile } from './profile.js';
import type { Report } from './report.js';

/** Whether a hard threshold keeps its default where others are set: as `mergeDefaultEvictionSettings` says, else as the departure has it. */
export function mergesDefaults({ mergeDefaults, departures }: Profile): boolean {
  return mergeDefaults ?? departures['merge-defaults'];
}

const ON_PURPOSE = 'mergeDefaultEvictionSettings: true says the same on purpose, and leaves an info of this';

/** Who sets one hard threshold expects the defaults of the others to be kept, or, knowing the kubelet, to be gone. */
export function noticeDefaults(
  hard: ReadonlyMap<AmountSignal, Entry<ThresholdValue>>,
  { defaults, files, flags }: Layers,
  profile: Profile,
  report: Report,
): void {
  const setBy = [...files, flags].findLast(({ settings }) => settings.evictionHard !== undefined);
  if (setBy === undefined) return;
  const signals = Object.keys(defaults.settings.evictionHard ?? {});
  const isKept = mergesDefaults(profile);
  const others = signals.filter((signal) => {
    const entry = hard.get(signal as AmountSignal);
    return isKept ? entry?.origin.kind === 'default' : entry === undefined;
  });
  if (others.length === 0 || (isKept && ![...hard.values()].some(({ origin }) => origin.kind === 'set'))) return;
  const effective = [...hard].flatMap(([signal, { value }]) => (value === undefined ? [] : [`${signal}<${valueText(value)}`]));
  const inEffect = `in effect: ${effective.sort().join(', ') || 'none'}`;
  // Who says it in words knows it.
  const level = profile.mergeDefaults === undefined ? 'warn' : 'info';
  const position = { file: setBy.keyAt(['evictionHard']).file };
  if (isKept) {
    const message = `evictionHard keeps the defaults of what it does not set (${others.join(', ')}); ${inEffect}`;
    report.notice(level, 'EVICTD_CONFIG_DEFAULTS_KEPT', message, {
      hint: `set one to 0% to switch it off, like ${others[0] ?? ''}: 0%${level === 'warn' ? `; ${ON_PURPOSE}` : ''}`,
      position,
    });
  } else {
    const message = `evictionHard drops the defaults of what it does not set, as in the kubelet (${others.join(', ')}); ${inEffect}`;
    report.notice(level, 'EVICTD_CONFIG_DEFAULTS_DROPPED', message, { hint: 'mergeDefaultEvictionSettings: true keeps them', position });
  }
}
