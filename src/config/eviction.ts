import { thresholdId, valueText, type Threshold, type ThresholdValue } from '../core/threshold.js';
import { QuantityError } from '../core/quantity-scan.js';
import { isSignal } from '../core/signal.js';
import type { SourcePosition } from '../errors.js';
import type { Origin } from './config.js';
import { suggestion } from './key.js';
import type { Layer } from './layer.js';
import type { Report } from './report.js';
import { meantAmount, messageOf } from './text.js';
import {
  combineThresholds,
  KUBELET_SIGNALS,
  parseGracePeriod,
  parseMinimumReclaim,
  parseSignal,
  parseThresholdValue,
  ThresholdError,
  type KubeletSignal,
} from './thresholds.js';

/** The layers in the order in which the later wins. */
export interface Layers {
  readonly defaults: Layer;
  readonly files: readonly Layer[];
  readonly flags: Layer;
  /** Some file could not be read at all. */
  readonly unread: boolean;
}

export type OriginMap = Map<string, { readonly value: unknown; readonly origin: Origin }>;

/** An entry of a map by signal: `value` undefined when it switches the threshold off. */
interface Entry<T> {
  readonly text: string;
  readonly value: T | undefined;
  readonly origin: Origin;
  readonly keyAt: SourcePosition;
}

type MapKey = 'evictionHard' | 'evictionSoft' | 'evictionSoftGracePeriod' | 'evictionMinimumReclaim';

/** The thresholds of all layers together, and where each entry of the four maps comes from. */
export function readThresholds(layers: Layers, origins: OriginMap, report: Report): Threshold[] {
  const hard = mergeMap('evictionHard', finite(parseThresholdValue), layers, report);
  const soft = mergeMap('evictionSoft', finite(parseThresholdValue), layers, report);
  const gracePeriod = mergeMap('evictionSoftGracePeriod', (_signal, text) => parseGracePeriod(text), layers, report);
  const minReclaim = mergeMap('evictionMinimumReclaim', finite(parseMinimumReclaim), layers, report);
  const maps = { evictionHard: hard, evictionSoft: soft, evictionSoftGracePeriod: gracePeriod, evictionMinimumReclaim: minReclaim };
  for (const [key, entries] of Object.entries(maps)) {
    for (const [signal, { text, origin }] of entries) origins.set(`${key}.${signal}`, { value: text, origin });
  }
  const parsed = { hard: values(hard), soft: values(soft), gracePeriodNs: values(gracePeriod), minReclaim: values(minReclaim) };
  const combined = combineThresholds(parsed, (signal, error) => {
    // Where the grace period itself is wrong, or the file that may have it, that has been said.
    if (layers.unread || isMentioned(layers, 'evictionSoftGracePeriod', signal)) return;
    const hint = `add evictionSoftGracePeriod: {${signal}: 30s}, or --eviction-soft-grace-period '${signal}=30s'`;
    report.issue('EVICTD_CONFIG_GRACE_PERIOD', error.message, soft.get(signal)?.keyAt ?? { file: 'default' }, hint);
  });
  noticeKeptDefaults(hard, report);
  const watched = combined.filter((threshold): threshold is Threshold => isSignal(threshold.signal));
  return watched.filter((threshold, index) => watched.findIndex((other) => thresholdId(other) === thresholdId(threshold)) === index);
}

/** The kubelet lets `NaN%`, and `Inf%` as minimum reclaim, through; there is no amount that they could mean. */
function finite<T extends ThresholdValue | undefined>(parse: (signal: string, text: string) => T): (signal: string, text: string) => T {
  return (signal, text) => {
    const value = parse(signal, text);
    if (value?.kind === 'percentage' && !Number.isFinite(value.fraction)) throw new ThresholdError('not a number');
    return value;
  };
}

/**
 * One map of all layers. Files add up entry by entry; flags replace what the files say, as in the kubelet; a default holds for every signal
 * that neither sets (departure merge-defaults).
 */
function mergeMap<T>(
  key: MapKey,
  parse: (signal: KubeletSignal, text: string) => T | undefined,
  { defaults, files, flags }: Layers,
  report: Report,
): Map<KubeletSignal, Entry<T>> {
  const read = (layer: Layer): Map<KubeletSignal, Entry<T>> => readEntries(key, parse, layer, layer === defaults, report);
  const fromFiles = files.map(read);
  const fromFlags = read(flags);
  const set = flags.settings[key] === undefined ? fromFiles : [fromFlags];
  return new Map([read(defaults), ...set].flatMap((entries) => [...entries]));
}

function readEntries<T>(
  key: MapKey,
  parse: (signal: KubeletSignal, text: string) => T | undefined,
  layer: Layer,
  isDefault: boolean,
  report: Report,
): Map<KubeletSignal, Entry<T>> {
  const entries = new Map<KubeletSignal, Entry<T>>();
  const ignored: string[] = [];
  for (const [name, text] of Object.entries(layer.settings[key] ?? {})) {
    const at = layer.at([key, name]);
    const keyAt = layer.keyAt([key, name]);
    const signal = readSignal(key, name, keyAt, report);
    if (signal === undefined) continue;
    if (!isSignal(signal) && layer.dialect === 'evictd') {
      report.issue('EVICTD_CONFIG_SIGNAL_UNWATCHED', `${key}: ${signal} is not watched by this version`, keyAt, 'remove it');
      continue;
    }
    try {
      const value = parse(signal, text);
      entries.set(signal, { text, value, keyAt, origin: isDefault ? { kind: 'default' } : { kind: 'set', position: at } });
      if (!isSignal(signal)) ignored.push(signal);
    } catch (error) {
      reportValue(key, signal, text, error, at, report);
    }
  }
  if (ignored.length > 0) {
    const message = `${key}: not watched by this version and ignored: ${ignored.join(', ')}`;
    report.notice('warn', 'EVICTD_CONFIG_SIGNAL_UNWATCHED', message, { position: layer.keyAt([key]) });
  }
  return new Map([...entries].filter(([signal]) => isSignal(signal)));
}

function readSignal(key: MapKey, name: string, keyAt: SourcePosition, report: Report): KubeletSignal | undefined {
  try {
    return parseSignal(name);
  } catch (error) {
    report.issue('EVICTD_CONFIG_SIGNAL', `${key}: ${messageOf(error)}`, keyAt, suggestion(name, KUBELET_SIGNALS.filter(isSignal)));
    return undefined;
  }
}

function reportValue(key: MapKey, signal: string, text: string, error: unknown, at: SourcePosition, report: Report): void {
  const isGracePeriod = key === 'evictionSoftGracePeriod';
  const code = isGracePeriod ? 'EVICTD_CONFIG_GRACE_PERIOD' : 'EVICTD_CONFIG_THRESHOLD';
  const hint = isGracePeriod
    ? 'write a number and a unit: 500ms, 30s, 1m30s'
    : ((error instanceof QuantityError ? meantAmount(text) : undefined) ??
      (key === 'evictionMinimumReclaim'
        ? 'write an amount (500Mi) or a percentage above 0 (5%)'
        : 'write an amount (100Mi, 1.5Gi, 500M) or a percentage from 0 to 100 (10%); 0% switches the threshold off'));
  const seen = text === '' ? 'has no value' : JSON.stringify(text);
  report.issue(code, `${key}.${signal}: ${seen}: ${messageOf(error)}`, at, hint);
}

function isMentioned(layers: Layers, key: MapKey, signal: string): boolean {
  const from = layers.flags.settings[key] === undefined ? layers.files : [layers.flags];
  return from.some((layer) => layer.wrong.includes(key) || Object.hasOwn(layer.settings[key] ?? {}, signal));
}

/** Who sets one hard threshold and knows the kubelet expects the defaults of the others to be gone. */
function noticeKeptDefaults(hard: ReadonlyMap<KubeletSignal, Entry<ThresholdValue>>, report: Report): void {
  const set = [...hard.values()].find(({ origin }) => origin.kind === 'set')?.origin;
  const kept = [...hard].filter(([, { origin }]) => origin.kind === 'default').map(([signal]) => signal);
  if (set?.kind !== 'set' || kept.length === 0) return;
  const effective = [...hard].flatMap(([signal, { value }]) => (value === undefined ? [] : [`${signal}<${valueText(value)}`]));
  report.notice(
    'warn',
    'EVICTD_CONFIG_DEFAULTS_KEPT',
    `evictionHard keeps the defaults of what it does not set (${kept.join(', ')}); in effect: ${effective.sort().join(', ')}`,
    { hint: `set one to 0% to switch it off, like ${kept[0] ?? ''}: 0%`, position: { file: set.position.file } },
  );
}

function values<T>(entries: ReadonlyMap<KubeletSignal, Entry<T>>): Map<KubeletSignal, T> {
  return new Map([...entries].flatMap(([signal, { value }]) => (value === undefined ? [] : [[signal, value] as const])));
}
