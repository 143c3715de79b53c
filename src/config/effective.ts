import type { Config, LoadedConfig, Origin } from './config.js';
import { readThresholds, type Layers, type OriginMap } from './eviction.js';
import { keyText, type KeyPath } from './key.js';
import type { Layer } from './layer.js';
import type { Report } from './report.js';
import type { Settings } from './schema.js';
import { isRecord } from './values.js';

/**
 * The layers as one configuration: a later file wins over an earlier one, a flag over both. Maps by signal add up, and so do the lists
 * `workloads` and `rules`, in the order of the files.
 */
export function effectiveConfig(given: Layers, report: Report): LoadedConfig {
  const layers = { ...given, files: given.files.map((layer) => withoutZeroPeriod(layer, report)) };
  const origins: OriginMap = new Map();
  const thresholds = readThresholds(layers, origins, report);

  const optional = <T>(path: KeyPath, get: (settings: Settings) => T | undefined): T | undefined => {
    const layer = [layers.defaults, ...layers.files, layers.flags].findLast(({ settings }) => get(settings) !== undefined);
    if (layer === undefined) origins.set(keyText(path), { value: null, origin: { kind: 'default' } });
    else origins.set(keyText(path), { value: valueAt(layer.written, path), origin: originOf(layer, path, layers) });
    return layer && get(layer.settings);
  };
  const preset = <T>(path: KeyPath, get: (settings: Settings) => T | undefined): T => {
    const value = optional(path, get);
    if (value === undefined) throw new Error(`${keyText(path)} has no default (defaults.ts)`);
    return value;
  };
  const list = <T>(key: 'workloads' | 'rules', get: (settings: Settings) => readonly T[] | undefined, keep = all<T>): T[] => {
    const from = get(layers.flags.settings) === undefined ? layers.files : [layers.flags];
    const items = keep(from.flatMap((layer) => (get(layer.settings) ?? []).map((value, index) => ({ value, layer, path: [key, index] }))));
    if (items.length === 0) origins.set(key, { value: [], origin: { kind: 'default' } });
    items.forEach(({ layer, path }, index) => {
      for (const [below, leaf] of leaves(valueAt(layer.written, path))) {
        origins.set(keyText([key, index, ...below]), { value: leaf, origin: originOf(layer, [...path, ...below], layers) });
      }
    });
    return items.map(({ value }) => value);
  };

  const config: Config = {
    thresholds,
    pressureTransitionPeriodNs: preset(['evictionPressureTransitionPeriod'], (settings) => settings.evictionPressureTransitionPeriod),
    maxPodGracePeriodNs: preset(['evictionMaxPodGracePeriod'], (settings) => settings.evictionMaxPodGracePeriod),
    monitoringIntervalNs: preset(['monitoringInterval'], (settings) => settings.monitoringInterval),
    node: { cgroup: belowTheRoot(optional(['node', 'cgroup'], (settings) => settings.node?.cgroup)) },
    filesystems: { nodefs: preset(['filesystems', 'nodefs'], (settings) => settings.filesystems?.nodefs) },
    workloads: list(
      'workloads',
      (settings) => settings.workloads,
      (items) => distinctSources(items, report),
    ),
    rules: list(
      'rules',
      (settings) => settings.rules,
      (items) => noticeEmptyRules(items, report),
    ),
    metrics: preset(['metrics', 'listen'], (settings) => settings.metrics?.listen).address,
    stateDirectory: preset(['stateDirectory'], (settings) => settings.stateDirectory),
    runtimeDirectory: preset(['runtimeDirectory'], (settings) => settings.runtimeDirectory),
    log: {
      format: preset(['log', 'format'], (settings) => settings.log?.format),
      level: preset(['log', 'level'], (settings) => settings.log?.level),
    },
  };
  return { config, notices: report.notices, origins };
}

interface ListItem<T> {
  readonly value: T;
  readonly layer: Layer;
  readonly path: KeyPath;
}

/** The root cgroup is the machine. */
function belowTheRoot(cgroup: string | undefined): string | undefined {
  return cgroup === '/' ? undefined : cgroup;
}

/**
 * In a file `evictionPressureTransitionPeriod: 0s` means the default, as in the kubelet, whose defaulting takes a zero for unset; as a flag
 * it means zero there.
 */
function withoutZeroPeriod(layer: Layer, report: Report): Layer {
  const { evictionPressureTransitionPeriod: period, ...settings } = layer.settings;
  if (period !== 0n) return layer;
  report.notice('warn', 'EVICTD_CONFIG_TRANSITION_PERIOD', 'evictionPressureTransitionPeriod: 0s is read as unset, as in the kubelet', {
    hint: 'write 1ns for none, or leave it out',
    position: layer.at(['evictionPressureTransitionPeriod']),
  });
  return { ...layer, settings };
}

function all<T>(items: readonly ListItem<T>[]): readonly ListItem<T>[] {
  return items;
}

/** Two files may well name the same source; its workloads are still there once. */
function distinctSources<T extends { readonly cgroup: string }>(items: readonly ListItem<T>[], report: Report): readonly ListItem<T>[] {
  return items.filter(({ value: { cgroup }, layer, path }, index) => {
    const position = layer.at([...path, 'cgroup']);
    const isFirst = items.findIndex((other) => other.value.cgroup === cgroup) === index;
    if (!isFirst) report.notice('warn', 'EVICTD_CONFIG_WORKLOADS_TWICE', `workloads: ${cgroup} is named twice`, { position });
    if (isFirst && cgroup === '/') {
      const message = 'workloads: / makes every top-level cgroup a candidate, system services too';
      report.notice('warn', 'EVICTD_CONFIG_WORKLOADS_ROOT', message, { hint: 'name a slice, like /workload.slice', position });
    }
    return isFirst;
  });
}

/** They stay, so that the others keep their numbers. */
function noticeEmptyRules<T extends object>(items: readonly ListItem<T>[], report: Report): readonly ListItem<T>[] {
  for (const { value, layer, path } of items) {
    if (Object.entries(value).some(([key, setting]) => key !== 'match' && setting !== undefined)) continue;
    const message = `${keyText(path)} says nothing about what it matches`;
    report.notice('warn', 'EVICTD_CONFIG_RULE_EMPTY', message, {
      hint: 'give it critical, priority or requests',
      position: layer.at(path),
    });
  }
  return items;
}

function originOf(layer: Layer, path: KeyPath, { defaults }: Layers): Origin {
  return layer === defaults ? { kind: 'default' } : { kind: 'set', position: layer.at(path) };
}

function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return (inner as readonly unknown[])[Number(key)];
    return isRecord(inner) ? inner[key] : undefined;
  }, value);
}

/** Everything below that is neither a map nor a list, with its path. */
function leaves(value: unknown): [KeyPath, unknown][] {
  if (!isRecord(value)) return [[[], value]];
  return Object.entries(value).flatMap(([key, child]) => leaves(child).map(([path, leaf]): [KeyPath, unknown] => [[key, ...path], leaf]));
}
