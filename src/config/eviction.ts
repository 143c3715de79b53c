import { QuantityError } from '../core/quantity-scan.js';
import { AMOUNT_SIGNALS, KUBELET_SIGNALS, type AmountSignal, type KubeletSignal } from '../core/signal.js';
import { thresholdId, type Threshold, type ThresholdValue } from '../core/threshold.js';
import type { SourcePosition } from '../errors.js';
import { copiesMemory, noteCopies, noticeUnreadable } from './allocatable-copy.js';
import type { Origin } from './config.js';
import { mergesDefaults, noticeDefaults } from './default-thresholds.js';
import { FloatError } from './float32.js';
import { suggestion } from './key.js';
import type { Layer } from './layer.js';
import type { Layers, OriginMap } from './layered.js';
import type { Profile } from './profile.js';
import type { Report } from './report.js';
import { meantAmount, meantPercentage, messageOf } from './text.js';
import { PARSE_ENTRY, type ThresholdMapKey } from './threshold-config.js';
import { combineThresholds, parseSignal, ThresholdError } from './thresholds.js';

/** An entry of a map by signal: `value` undefined when it switches the threshold off. */
export interface Entry<T> {
  readonly text: string;
  readonly value: T | undefined;
  readonly origin: Origin;
  readonly keyAt: SourcePosition;
}

/** An entry as the parser of its map reads it. */
type Parse<T> = (signal: string, text: string) => T | undefined;

/** The thresholds of all layers together, and where each entry of the four maps comes from. */
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
    // Where the grace period itself is wrong, or the file that may have it, that has been said.
    if (layers.unread || isMentioned(layers, 'evictionSoftGracePeriod', signal)) return;
    const hint = `add evictionSoftGracePeriod: {${signal}: 30s}, or --eviction-soft-grace-period '${signal}=30s'`;
    report.issue('EVICTD_CONFIG_GRACE_PERIOD', error.message, soft.get(signal)?.keyAt ?? { file: 'default' }, hint);
  });
  noticeDefaults(hard, layers, profile, report);
  noticeUnreadable(maps, copies, profile, report);
  return combined.filter((threshold, index) => combined.findIndex((other) => thresholdId(other) === thresholdId(threshold)) === index);
}

/**
 * The kubelet lets `NaN%`, and `Inf%` as minimum reclaim, through; there is no amount that they could mean, and so only `compatibility: kubelet`
 * takes them: a threshold of NaN% is never met.
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
 * One map of all layers. Files add up entry by entry; flags replace what the files say, as in the kubelet; a default holds for every signal
 * that neither sets.
 *
 * @param merge  false: no default holds where the map is set at all
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
    const message = `${key}: ignored: ${derived.map(([signal]) => signal).join(', ')}: containers lie on nodefs or imagefs, and that one's thresholds count`;
    const hint = 'set those of nodefs or imagefs';
    report.notice('warn', 'EVICTD_CONFIG_CONTAINERFS', message, { hint, position: first[1].keyAt });
  }
  return new Map([...entries].filter(([signal]) => !isContainerFs(signal)));
}

/** The kubelet never takes what is configured for it (UpdateContainerFsThresholds). */
function isContainerFs(signal: AmountSignal): boolean {
  return signal === 'containerfs.available' || signal === 'containerfs.inodesFree';
}

/** The kubelet's, and evictd's own amounts, which a kubelet does not know. */
function readSignal(
  key: ThresholdMapKey,
  name: string,
  keyAt: SourcePosition,
  { compatibility }: Profile,
  report: Report,
): AmountSignal | undefined {
  const own = ownSignal(name);
  if (own !== undefined && compatibility === 'kubelet') {
    const message = `${key}: ${name} is evictd's own: with compatibility: kubelet evictd decides as a kubelet does, which has no such signal`;
    report.issue('EVICTD_CONFIG_PROFILE', message, keyAt, 'remove it, or write compatibility: evictd');
    return undefined;
  }
  if (own === 'pressure') {
    const hint = `write thresholds: [{when: '${name}>40%', kind: soft, for: 10s}]`;
    report.issue('EVICTD_CONFIG_SIGNAL', `${key}: ${name}: pressure has no place in the maps by signal`, keyAt, hint);
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

/** A flag's text is cut at the first `<`: what stands before it may hold more than a name. */
function ownSignal(name: string): Exclude<AmountSignal, KubeletSignal> | 'pressure' | undefined {
  if (name === 'swap.available' || name === 'memory.kernelAvailable') return name;
  return /^(memory|io|cpu)\.pressure\b/.test(name) ? 'pressure' : undefined;
}

function reportValue(key: ThresholdMapKey, signal: string, text: string, error: unknown, at: SourcePosition, report: Report): void {
  const isGracePeriod = key === 'evictionSoftGracePeriod';
  const code = isGracePeriod ? 'EVICTD_CONFIG_GRACE_PERIOD' : 'EVICTD_CONFIG_THRESHOLD';
  const hint = isGracePeriod
    ? 'write a number and a unit: 500ms, 30s, 1m30s'
    : ((error instanceof QuantityError || error instanceof FloatError ? (meantPercentage(text) ?? meantAmount(text)) : undefined) ??
      (key === 'evictionMinimumReclaim'
        ? 'write an amount (500Mi) or a percentage above 0 (5%)'
        : 'write an amount (100Mi, 1.5Gi, 500M) or a percentage from 0 to 100 (10%); 0% switches the threshold off'));
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
