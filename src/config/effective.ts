import type { Config, LoadedConfig } from './config.js';
import type { Platform } from '../core/operating-system.js';
import type { Threshold } from '../core/threshold.js';
import { readThresholds } from './eviction.js';
import { listedThresholds } from './listed-thresholds.js';
import { reportSharedDirectories } from './directories.js';
import { refuseElsewhere } from './elsewhere.js';
import { keyText } from './key.js';
import type { Layer } from './layer.js';
import { LayeredSettings, type Layers, type ListItem, type OriginMap } from './layered.js';
import { readProfile, type Profile } from './profile.js';
import { distinctSteps } from './reclaim.js';
import type { Report } from './report.js';
import { readShutdown } from './shutdown.js';
import { distinctSources } from './sources.js';

/**
 * The layers as one configuration: a later file wins over an earlier one, a flag over both. Maps by signal add up, and so do the lists
 * `workloads` and `rules`, in the order of the files.
 */
export function effectiveConfig(given: Layers, platform: Platform, report: Report): Omit<LoadedConfig, 'files' | 'written'> {
  const layers = {
    ...given,
    defaults: given.files.some(({ settings }) => settings.filesystems?.imagefs !== undefined)
      ? given.defaults
      : withoutImages(given.defaults),
    files: given.files.map((layer) => withoutZeroPeriod(layer, report)),
  };
  refuseElsewhere(layers, platform, report);
  const origins: OriginMap = new Map();
  const profileOrigins: OriginMap = new Map();
  const profileSettings = new LayeredSettings(layers, profileOrigins);
  const profile = readProfile(profileSettings);
  const settings = new LayeredSettings(layers, origins);
  const { compatibility, departures, allocatable } = profile;
  const bySignal = readThresholds(layers, profile, origins, report);
  let listed: readonly Threshold[] = [];
  settings.list(
    'thresholds',
    (layer) => layer.thresholds,
    (items) => {
      listed = listedThresholds(items, profile, report);
      return items;
    },
  );
  refuseWindow(layers, profile, report);
  const config: Config = {
    compatibility,
    departures,
    thresholds: [...bySignal, ...listed],
    pressureWindowNs: settings.preset(['pressureWindow'], (layer) => layer.pressureWindow),
    pressureTransitionPeriodNs: settings.preset(['evictionPressureTransitionPeriod'], (layer) => layer.evictionPressureTransitionPeriod),
    maxPodGracePeriodNs: departures['soft-default-grace']
      ? settings.preset(['evictionMaxPodGracePeriod'], (layer) => layer.evictionMaxPodGracePeriod)
      : settings.derived(
          ['evictionMaxPodGracePeriod'],
          (layer) => layer.evictionMaxPodGracePeriod,
          0n,
          profileSettings.following('departures.soft-default-grace'),
          0,
        ),
    shutdown: readShutdown(settings, layers, report),
    allocatable,
    monitoringIntervalNs: settings.preset(['monitoringInterval'], (layer) => layer.monitoringInterval),
    node: { cgroup: belowTheRoot(settings.optional(['node', 'cgroup'], (layer) => layer.node?.cgroup)) },
    filesystems: {
      nodefs: settings.preset(['filesystems', 'nodefs'], (layer) => layer.filesystems?.nodefs),
      imagefs: settings.optional(['filesystems', 'imagefs'], (layer) => layer.filesystems?.imagefs),
      containerfs: settings.optional(['filesystems', 'containerfs'], (layer) => layer.filesystems?.containerfs),
    },
    workloads: settings.list(
      'workloads',
      (layer) => layer.workloads,
      (items) => distinctSources(items, report),
    ),
    rules: settings.list(
      'rules',
      (layer) => layer.rules,
      (items) => {
        reportSharedDirectories(items, report);
        return noticeEmptyRules(items, report);
      },
    ),
    reclaim: settings.list(
      'reclaim',
      (layer) => layer.reclaim,
      (items) => distinctSteps(items, profile, report),
    ),
    oomScoreAdj: settings.preset(['oomScoreAdj'], (layer) => layer.oomScoreAdj),
    metrics: settings.preset(['metrics', 'listen'], (layer) => layer.metrics?.listen).address,
    journal: {
      maxBytes: Number(settings.preset(['journal', 'maxSize'], (layer) => layer.journal?.maxSize)),
      maxFiles: settings.preset(['journal', 'maxFiles'], (layer) => layer.journal?.maxFiles),
    },
    stateDirectory: settings.preset(['stateDirectory'], (layer) => layer.stateDirectory),
    runtimeDirectory: settings.preset(['runtimeDirectory'], (layer) => layer.runtimeDirectory),
    log: {
      format: settings.preset(['log', 'format'], (layer) => layer.log?.format),
      level: settings.preset(['log', 'level'], (layer) => layer.log?.level),
    },
  };
  // Last: mostly they are as they come.
  return { config, notices: report.notices, origins: new Map([...origins, ...profileOrigins]) };
}

function refuseWindow({ files, flags }: Layers, { compatibility }: Profile, report: Report): void {
  if (compatibility !== 'kubelet') return;
  for (const layer of [...files, flags].filter(({ settings }) => settings.pressureWindow !== undefined)) {
    const message = "pressureWindow is evictd's own: with compatibility: kubelet there are no pressure signals";
    report.issue('EVICTD_CONFIG_PROFILE', message, layer.keyAt(['pressureWindow']), 'remove it, or write compatibility: evictd');
  }
}

/** The root cgroup is the machine. */
function belowTheRoot(cgroup: string | undefined): string | undefined {
  return cgroup === '/' ? undefined : cgroup;
}

/** Without a filesystem for images of its own they would be a second, higher threshold for nodefs. */
function withoutImages(defaults: Layer): Layer {
  const hard = Object.entries(defaults.settings.evictionHard ?? {}).filter(([signal]) => !signal.startsWith('imagefs.'));
  return { ...defaults, settings: { ...defaults.settings, evictionHard: Object.fromEntries(hard) } };
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

/** They stay, so that the others keep their numbers. */
function noticeEmptyRules<T extends object>(items: readonly ListItem<T>[], report: Report): readonly ListItem<T>[] {
  for (const { value, layer, path } of items) {
    if (Object.entries(value).some(([key, setting]) => key !== 'match' && setting !== undefined)) continue;
    const message = `${keyText(path)} says nothing about what it matches`;
    report.notice('warn', 'EVICTD_CONFIG_RULE_EMPTY', message, {
      hint: 'give it critical, priority, requests, terminationGracePeriodSeconds or directories',
      position: layer.at(path),
    });
  }
  return items;
}
