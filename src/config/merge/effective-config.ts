import type { Config, LoadedConfig, Origin } from '../config.js';
import type { Departures } from '../../core/decide/departures.js';
import type { Platform } from '../../core/signal/operating-system.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import { readThresholds } from '../resolve/threshold-maps.js';
import { listedThresholds } from '../resolve/listed-thresholds.js';
import { refuseForeign } from './platform-settings.js';
import { LayeredSettings, type Layer, type Layers, type OriginMap } from './layer.js';
import { readProfile, type Profile } from './kubelet-profile.js';
import { distinctSteps } from '../resolve/reclaim-steps.js';
import type { Report } from '../value/report.js';
import type { Settings } from '../parse/schema.js';
import { readShutdown } from '../resolve/shutdown-grace.js';
import { checkRules } from '../parse/workload-rules.js';
import { distinctSources } from '../parse/workload-sources.js';

/**
 * Merges the layers: a later file wins over an earlier one, a flag over both. Maps by signal and lists add up over the
 * files.
 */
export function effectiveConfig(given: Layers, platform: Platform, report: Report): Omit<LoadedConfig, 'files' | 'written'> {
  const layers = {
    ...given,
    defaults: given.files.some(({ settings }) => settings.filesystems?.imagefs !== undefined)
      ? given.defaults
      : withoutImages(given.defaults),
    files: given.files.map((layer) => withoutZeroPeriod(layer, report)),
  };
  refuseForeign(layers, platform, report);
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
      listed = listedThresholds(items, compatibility, report);
      return items;
    },
  );
  refuseWindow(layers, profile, report);
  const config: Config = {
    compatibility,
    departures,
    thresholds: [...bySignal, ...listed],
    ...readPeriods(settings, departures, profileSettings.following('departures.soft-default-grace')),
    shutdown: readShutdown(settings, layers, report),
    allocatable,
    ...readNode(settings),
    workloads: settings.list(
      'workloads',
      (layer) => layer.workloads,
      (items) => distinctSources(items, report),
    ),
    rules: settings.list(
      'rules',
      (layer) => layer.rules,
      (items) => checkRules(items, report),
    ),
    reclaim: settings.list(
      'reclaim',
      (layer) => layer.reclaim,
      (items) => distinctSteps(items, compatibility, report),
    ),
    ...readPlaces(settings),
  };
  // The profile's origins come last in `config show`: they are mostly defaults.
  return { config, notices: report.notices, origins: new Map([...origins, ...profileOrigins]) };
}

function readPeriods(settings: LayeredSettings, departures: Departures, graceOrigin: Origin) {
  const maxPodGracePeriod = (layer: Settings): bigint | undefined => layer.evictionMaxPodGracePeriod;
  return {
    pressureWindowNs: settings.preset(['pressureWindow'], (layer) => layer.pressureWindow),
    pressureTransitionPeriodNs: settings.preset(['evictionPressureTransitionPeriod'], (layer) => layer.evictionPressureTransitionPeriod),
    maxPodGracePeriodNs: departures['soft-default-grace']
      ? settings.preset(['evictionMaxPodGracePeriod'], maxPodGracePeriod)
      : settings.derived(['evictionMaxPodGracePeriod'], maxPodGracePeriod, 0n, graceOrigin, 0),
  };
}

function readNode(settings: LayeredSettings) {
  return {
    monitoringIntervalNs: settings.preset(['monitoringInterval'], (layer) => layer.monitoringInterval),
    node: { cgroup: unlessRoot(settings.optional(['node', 'cgroup'], (layer) => layer.node?.cgroup)) },
    filesystems: {
      nodefs: settings.preset(['filesystems', 'nodefs'], (layer) => layer.filesystems?.nodefs),
      imagefs: settings.optional(['filesystems', 'imagefs'], (layer) => layer.filesystems?.imagefs),
      containerfs: settings.optional(['filesystems', 'containerfs'], (layer) => layer.filesystems?.containerfs),
    },
  };
}

function readPlaces(settings: LayeredSettings) {
  return {
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
}

function refuseWindow({ files, flags }: Layers, { compatibility }: Profile, report: Report): void {
  if (compatibility !== 'kubelet') return;
  for (const layer of [...files, flags].filter(({ settings }) => settings.pressureWindow !== undefined)) {
    const message = 'pressureWindow: the kubelet has no pressure signals, and compatibility is kubelet';
    report.issue('EVICTD_CONFIG_PROFILE', message, layer.keyAt(['pressureWindow']), 'remove it, or set compatibility: evictd');
  }
}

/** The root cgroup is the whole machine. */
function unlessRoot(cgroup: string | undefined): string | undefined {
  return cgroup === '/' ? undefined : cgroup;
}

/** Without an imagefs of its own they would be a second, higher threshold of nodefs. */
function withoutImages(defaults: Layer): Layer {
  const hard = Object.entries(defaults.settings.evictionHard ?? {}).filter(([signal]) => !signal.startsWith('imagefs.'));
  return { ...defaults, settings: { ...defaults.settings, evictionHard: Object.fromEntries(hard) } };
}

/**
 * `evictionPressureTransitionPeriod: 0s` in a file means the default, as in the kubelet, whose defaulting treats 0 as
 * unset; as a flag it means 0.
 */
function withoutZeroPeriod(layer: Layer, report: Report): Layer {
  const { evictionPressureTransitionPeriod: period, ...settings } = layer.settings;
  if (period !== 0n) return layer;
  report.notice('warn', 'EVICTD_CONFIG_TRANSITION_PERIOD', 'evictionPressureTransitionPeriod: 0s is read as unset, as in the kubelet', {
    hint: 'write 1ns for none, or remove it',
    position: layer.at(['evictionPressureTransitionPeriod']),
  });
  return { ...layer, settings };
}
