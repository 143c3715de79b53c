import { QuantityError } from '../../core/quantity/quantity-scan.js';
import {
  AMOUNT_SIGNALS,
  isOwnAmount,
  isSignal,
  KUBELET_SIGNALS,
  STALL_RESOURCES,
  type AmountSignal,
  type OwnAmountSignal,
} from '../../core/signal/signal.js';
import { thresholdId, valueText, type Threshold, type ThresholdValue } from '../../core/threshold/threshold.js';
import { messageOf, type SourcePosition } from '../../errors.js';
import { copiesMemory, noteCopies, noticeUnreadable, type Entry } from './allocatable-thresholds.js';
import { FloatError } from '../value/float32.js';
import { suggestion, type Report } from '../value/report.js';
import type { Layer, Layers, OriginMap } from '../merge/layer.js';
import type { Profile } from '../merge/kubelet-profile.js';
import { meantAmount } from '../../core/quantity/meant-amount.js';
import { meantPercentage } from '../value/value-text.js';
import { combineThresholds, PARSE_ENTRY, parseSignal, ThresholdError, type ThresholdMapKey } from './thresholds.js';

type Parse<T> = (signal: string, text: string) => T | undefined;

/** The thresholds of the four maps by signal, merged over all layers; sets the origin of each entry. */
export function readThresholds(layers: Layers, profile: Profile, origins: OriginMap, report: Report): Threshold[] {
  const merge = mergesDefaults(profile);
  const read = <T extends ThresholdValue | bigint | undefined>(key: ThresholdMapKey, parse: Parse<T>): Map<AmountSignal, Entry<T>> => {
    return mergeMap(key, finite(parse, profile), merge, layers, profile, report);
  };
  const hard = read('evictionHard', PARSE_ENTRY.evictionHard);
  const soft = read('evictionSoft', PARSE_ENTRY.evictionSoft);
  const gracePeriod = read('evictionSoftGracePeriod', PARSE_ENTRY.evictionSoftGracePeriod);
  const minReclaim = read('evictionMinimumReclaim', PARSE_ENTRY.evictionMinimumReclaim);
  const maps = { evictionHard: hard, evictionSoft: soft, evictionSoftGracePeriod: gracePeriod, evictionMinimumReclaim: minReclaim };
  for (const [key, entries] of Object.entries(maps)) {
    for (const [signal, { text, origin }] of entries) origins.set(`${key}.${signal}`, { value: text, origin });
  }
  const parsed = { hard: values(hard), soft: values(soft), gracePeriodNs: values(gracePeriod), minReclaim: values(minReclaim) };
  const copies = copiesMemory(maps, profile);
  if (copies) noteCopies(maps, origins);
  const combined = combineThresholds(parsed, copies, (signal, error) => {
    // An invalid grace period, or an unreadable file that may contain it, has been reported already.
    if (layers.unread || isMentioned(layers, 'evictionSoftGracePeriod', signal)) return;
    const hint = `add evictionSoftGracePeriod: {${signal}: 30s}, or --eviction-soft-grace-period '${signal}=30s'`;
    report.issue('EVICTD_CONFIG_GRACE_PERIOD', error.message, soft.get(signal)?.keyAt ?? { file: 'default' }, hint);
  });
  noticeDefaults(hard, layers, profile, report);
  noticeUnreadable(maps, copies, profile, report);
  return combined.filter((threshold, index) => combined.findIndex((other) => thresholdId(other) === thresholdId(threshold)) === index);
}

/**
 * Rejects `NaN%`, and `Inf%` as a minimum reclaim. The kubelet accepts them (a threshold of NaN% is never met), so
 * compatibility: kubelet does.
 */
function finite<T extends ThresholdValue | bigint | undefined>(parse: Parse<T>, { compatibility }: Profile): Parse<T> {
  if (compatibility === 'kubelet') return parse;
  return (signal, text) => {
    const value = parse(signal, text);
    if (typeof value === 'object' && value.kind === 'percentage' && !Number.isFinite(value.fraction)) {
      throw new ThresholdError('not a number');
    }
    return value;
  };
}

/**
 * One map over all layers. Files merge entry by entry; a flag replaces the files' map, as in the kubelet; defaults fill
 * in the other signals.
 *
 * @param merge  false: no defaults if the map is set at all
 */
function mergeMap<T>(
  key: ThresholdMapKey,
  parse: Parse<T>,
  merge: boolean,
  { defaults, files, flags }: Layers,
  profile: Profile,
  report: Report,
): Map<AmountSignal, Entry<T>> {
  const read = (layer: Layer): Map<AmountSignal, Entry<T>> => readEntries(key, parse, layer, layer === defaults, profile, report);
  const fromFiles = files.map(read);
  const fromFlags = read(flags);
  const set = flags.settings[key] === undefined ? fromFiles : [fromFlags];
  const isSet = [...files, flags].some(({ settings }) => settings[key] !== undefined);
  return new Map([...(isSet && !merge ? [] : read(defaults)), ...set.flatMap((entries) => [...entries])]);
}

/** Whether evictionHard keeps the defaults of the signals that it does not set. */
function mergesDefaults({ mergeDefaults, departures }: Profile): boolean {
  return mergeDefaults ?? departures['merge-defaults'];
}

/**
 * Says which defaults a partial evictionHard keeps or drops: evictd keeps them, the kubelet drops them, and an operator
 * may expect either.
 */
function noticeDefaults(
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
  if (others.length === 0) return;
  const effective = [...hard].flatMap(([signal, { value }]) => (value === undefined ? [] : [`${signal}<${valueText(value)}`]));
  const inEffect = `in effect: ${effective.sort().join(', ') || 'none'}`;
  const position = { file: setBy.keyAt(['evictionHard']).file };
  if (isKept) {
    const message = `evictionHard keeps the defaults of signals that it does not set (${others.join(', ')}); ${inEffect}`;
    const hint = `set a signal to 0% to disable it: ${others[0] ?? ''}: 0%`;
    report.notice('info', 'EVICTD_CONFIG_DEFAULTS_KEPT', message, { hint, position });
  } else {
    const message = `evictionHard drops the defaults of signals that it does not set, as in the kubelet (${others.join(', ')}); ${inEffect}`;
    const level = profile.mergeDefaults === undefined ? 'warn' : 'info';
    report.notice(level, 'EVICTD_CONFIG_DEFAULTS_DROPPED', message, { hint: 'mergeDefaultEvictionSettings: true keeps them', position });
  }
}

function readEntries<T>(
  key: ThresholdMapKey,
  parse: Parse<T>,
  layer: Layer,
  isDefault: boolean,
  profile: Profile,
  report: Report,
): Map<AmountSignal, Entry<T>> {
  const entries = new Map<AmountSignal, Entry<T>>();
  for (const [name, text] of Object.entries(layer.settings[key] ?? {})) {
    const at = layer.at([key, name]);
    const keyAt = layer.keyAt([key, name]);
    const signal = readSignal(key, name, keyAt, profile, report);
    try {
      const value = parse(name, text);
      if (signal === undefined) continue;
      entries.set(signal, { text, value, keyAt, origin: isDefault ? { kind: 'default' } : { kind: 'set', position: at } });
    } catch (error) {
      reportValue(key, name, text, error, at, report);
    }
  }
  const derived = [...entries].filter(([signal]) => isContainerFs(signal));
  const [first] = derived;
  if (first !== undefined) {
    const names = derived.map(([signal]) => signal).join(', ');
    const message = `${key}: ignored: ${names}: containers are on nodefs or imagefs, whose thresholds apply`;
    const hint = 'set thresholds of nodefs or imagefs instead';
    report.notice('warn', 'EVICTD_CONFIG_CONTAINERFS', message, { hint, position: first[1].keyAt });
  }
  return new Map([...entries].filter(([signal]) => !isContainerFs(signal)));
}

/** The kubelet ignores configured thresholds of containerfs (UpdateContainerFsThresholds). */
function isContainerFs(signal: AmountSignal): boolean {
  return signal === 'containerfs.available' || signal === 'containerfs.inodesFree';
}

/** The signals of the kubelet and, without compatibility: kubelet, evictd's own amounts. */
function readSignal(
  key: ThresholdMapKey,
  name: string,
  keyAt: SourcePosition,
  { compatibility }: Profile,
  report: Report,
): AmountSignal | undefined {
  const own = ownSignal(name);
  if (own !== undefined && compatibility === 'kubelet') {
    const message = `${key}: ${name}: the kubelet has no such signal, and compatibility is kubelet`;
    report.issue('EVICTD_CONFIG_PROFILE', message, keyAt, 'remove it, or set compatibility: evictd');
    return undefined;
  }
  if (own === 'pressure') {
    const hint = `write thresholds: [{when: '${name}>40%', kind: soft, for: 10s}]`;
    report.issue('EVICTD_CONFIG_SIGNAL', `${key}: ${name}: pressure signals are not accepted in the maps by signal`, keyAt, hint);
    return undefined;
  }
  if (own !== undefined) return own;
  try {
    return parseSignal(name);
  } catch (error) {
    report.issue(
      'EVICTD_CONFIG_SIGNAL',
      `${key}: ${messageOf(error)}`,
      keyAt,
      suggestion(name, compatibility === 'kubelet' ? KUBELET_SIGNALS : AMOUNT_SIGNALS),
    );
    return undefined;
  }
}

const PRESSURE_NAME = new RegExp(`^(${STALL_RESOURCES.join('|')})\\.pressure\\b`);

/** A flag's text is split at the first `<`, so `name` may be more than a signal's name ('memory.pressure.full>40%'). */
function ownSignal(name: string): OwnAmountSignal | 'pressure' | undefined {
  if (isSignal(name) && isOwnAmount(name)) return name;
  return PRESSURE_NAME.test(name) ? 'pressure' : undefined;
}

function reportValue(key: ThresholdMapKey, signal: string, text: string, error: unknown, at: SourcePosition, report: Report): void {
  const isGracePeriod = key === 'evictionSoftGracePeriod';
  const code = isGracePeriod ? 'EVICTD_CONFIG_GRACE_PERIOD' : 'EVICTD_CONFIG_THRESHOLD';
  const hint = isGracePeriod
    ? 'write a number and a unit: 500ms, 30s, 1m30s'
    : ((error instanceof QuantityError || error instanceof FloatError ? (meantPercentage(text) ?? meantAmount(text)) : undefined) ??
      (key === 'evictionMinimumReclaim'
        ? 'write an amount (500Mi) or a percentage above 0 (5%)'
        : 'write an amount (100Mi, 1.5Gi, 500M) or a percentage from 0 to 100 (10%); 0% disables the threshold'));
  const seen = text === '' ? 'has no value' : JSON.stringify(text);
  report.issue(code, `${key}.${signal}: ${seen}: ${messageOf(error)}`, at, hint);
}

function isMentioned(layers: Layers, key: ThresholdMapKey, signal: string): boolean {
  const from = layers.flags.settings[key] === undefined ? layers.files : [layers.flags];
  return from.some((layer) => layer.wrong.includes(key) || Object.hasOwn(layer.settings[key] ?? {}, signal));
}

function values<T>(entries: ReadonlyMap<AmountSignal, Entry<T>>): Map<AmountSignal, T> {
  return new Map([...entries].flatMap(([signal, { value }]) => (value === undefined ? [] : [[signal, value] as const])));
}
