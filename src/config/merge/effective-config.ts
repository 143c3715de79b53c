import type { Config, LoadedConfig, Origin } from '../config.js';
import type { EvictionBudget } from '../../core/budget/eviction-budget.js';
import type { Compatibility, Departures } from '../../core/decide/departures.js';
import type { HooksConfig } from '../../core/hook/hook.js';
import type { NotificationsConfig } from '../../core/notify/notification.js';
import { CONDITION_KEYS, configuredPolicies, type PlacedPolicy } from '../policies/policy-list.js';
import type { Platform } from '../../core/signal/operating-system.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import { readThresholds } from '../resolve/threshold-maps.js';
import { listedThresholds, type ThresholdEntry } from '../resolve/listed-thresholds.js';
import { rejectOtherPlatforms } from './platform-settings.js';
import { LayeredSettings, type Layer, type Layers, type OriginMap } from './layer.js';
import { readProfile, type Profile } from './kubelet-profile.js';
import { DEADLINE_NS } from '../resolve/hooks.js';
import { distinctTaints } from '../resolve/taints.js';
import { distinctBudgets } from '../resolve/disruption-budgets.js';
import { distinctSteps } from '../resolve/reclaim-steps.js';
import type { ListItem } from '../value/document.js';
import { keyText, type Report } from '../value/report.js';
import { readShutdown } from '../resolve/shutdown-grace.js';
import { distinctClasses, rulesWithClasses } from '../resolve/priority-classes.js';
import type { Rule } from '../../core/workload/rule.js';
import { checkRules } from '../parse/workload-rules.js';
import { distinctSources } from '../parse/workload-sources.js';

const AFTER_WITH_HOOK = { ns: 5_000_000n, written: '5ms' };

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
  rejectOtherPlatforms(layers, platform, report);
  const origins: OriginMap = new Map();
  const profileOrigins: OriginMap = new Map();
  const profileSettings = new LayeredSettings(layers, profileOrigins);
  const profile = readProfile(profileSettings);
  const settings = new LayeredSettings(layers, origins);
  const { compatibility, departures, allocatable } = profile;
  const bySignal = readThresholds(layers, profile, origins, report);
  let listed: readonly Threshold[] = [];
  settings.list('thresholds', (items) => {
    const applicable = withThrashing(items, layers, profile, bySignal);
    listed = listedThresholds(applicable, report);
    return applicable;
  });
  refuseOwnKeys(layers, profile, report);
  const periods = readPeriods(settings, departures, profileSettings.following('departures.soft-default-grace'));
  const config: Config = {
    compatibility,
    departures,
    thresholds: [...bySignal, ...listed],
    ...periods,
    evictionBudget: readBudget(settings),
    shutdown: readShutdown(settings, layers, report),
    allocatable,
    ...readNode(settings, layers),
    ...readLists(settings, compatibility, report),
    policies: readPolicies(settings, compatibility, periods.pressureWindowNs, report),
    hooks: readHooks(settings),
    notifications: readNotifications(settings),
    kubernetes: settings.optional('kubernetes'),
    ...readPlaces(settings),
  };
  // The profile's origins come last in `config show`: they are mostly defaults.
  const { kubernetes, workloads } = config;
  const implied: Config = kubernetes === undefined ? config : { ...config, workloads: [...workloads, { kubernetes: true }] };
  return { config: implied, notices: report.notices, origins: new Map([...origins, ...profileOrigins]) };
}

function readLists(settings: LayeredSettings, compatibility: Compatibility, report: Report) {
  return {
    workloads: settings.list('workloads', (items) => distinctSources(items, report)),
    ...readRules(settings, report),
    taints: settings.list('taints', (items) => distinctTaints(items, report)),
    disruptionBudgets: settings.list('disruptionBudgets', (items) => distinctBudgets(items, report)),
    reclaim: settings.list('reclaim', (items) => distinctSteps(items, compatibility, report)),
  };
}

function readRules(settings: LayeredSettings, report: Report) {
  const priorityClasses = settings.list('priorityClasses', (items) => distinctClasses(items, report));
  let rules: readonly Rule[] = [];
  settings.list('rules', (items) => {
    rules = rulesWithClasses(checkRules(items, report), priorityClasses, report);
    return items;
  });
  return { priorityClasses, rules };
}

function readPeriods(settings: LayeredSettings, departures: Departures, graceOrigin: Origin) {
  return {
    pressureWindowNs: settings.preset('pressureWindow'),
    pressureTransitionPeriodNs: settings.preset('evictionPressureTransitionPeriod'),
    maxPodGracePeriodNs: departures['soft-default-grace']
      ? settings.preset('evictionMaxPodGracePeriod')
      : settings.derived(['evictionMaxPodGracePeriod'], 0n, graceOrigin, 0),
  };
}

function readBudget(settings: LayeredSettings): EvictionBudget {
  return {
    max: settings.preset('evictionBudget', 'max'),
    windowNs: settings.preset('evictionBudget', 'window'),
    bands: settings.preset('evictionBudget', 'bands'),
  };
}

function readHooks(settings: LayeredSettings): HooksConfig {
  const preEvict = settings.optional('hooks', 'preEvict');
  const isCalled = settings.optional('hooks', 'prekill') ?? false;
  return {
    preEvict,
    postEvict: settings.optional('hooks', 'postEvict'),
    prekill: isCalled ? { deadlineNs: preEvict?.deadlineNs ?? DEADLINE_NS } : undefined,
  };
}

/** The standing order runs no hook before it kills: where there is one, the main thread gets the time to start it. */
function standingOrderAfterNs(settings: LayeredSettings, layers: Layers): bigint {
  const hooks = new LayeredSettings(layers, new Map());
  const { preEvict, prekill } = readHooks(hooks);
  if (preEvict === undefined && prekill === undefined) return settings.preset('standingOrder', 'after');
  const origin = hooks.following(preEvict === undefined ? 'hooks.prekill' : 'hooks.preEvict');
  return settings.derived(['standingOrder', 'after'], AFTER_WITH_HOOK.ns, origin, AFTER_WITH_HOOK.written);
}

function readNotifications(settings: LayeredSettings): NotificationsConfig {
  const isOn = (key: 'desktop' | 'killedSignal' | 'oomdBusName' | 'kernelLog' | 'xattrs'): boolean =>
    settings.optional('notifications', key) ?? false;
  return {
    webhook: settings.optional('notifications', 'webhook'),
    desktop: isOn('desktop'),
    killedSignal: isOn('killedSignal'),
    oomdBusName: isOn('oomdBusName'),
    kernelLog: isOn('kernelLog'),
    xattrs: isOn('xattrs'),
  };
}

function readNode(settings: LayeredSettings, layers: Layers) {
  return {
    monitoringIntervalNs: settings.preset('monitoringInterval'),
    standingOrderAfterNs: standingOrderAfterNs(settings, layers),
    safeMode: {
      crashes: settings.preset('safeMode', 'crashes'),
      withinNs: settings.preset('safeMode', 'within'),
    },
    maxPauseNs: settings.preset('pause', 'max'),
    node: { cgroup: unlessRoot(settings.optional('node', 'cgroup')) },
    filesystems: {
      nodefs: settings.preset('filesystems', 'nodefs'),
      imagefs: settings.optional('filesystems', 'imagefs'),
      containerfs: settings.optional('filesystems', 'containerfs'),
    },
  };
}

function readPolicies(settings: LayeredSettings, compatibility: Compatibility, pressureWindowNs: bigint, report: Report) {
  let placed: readonly PlacedPolicy[] = [];
  settings.list('policies', (items) => {
    placed = configuredPolicies(items, compatibility, pressureWindowNs, report);
    return items;
  });
  placed.forEach(({ tests }, index) => {
    for (const key of CONDITION_KEYS) settings.divide(keyText(['policies', index, key]), tests[key]);
  });
  return placed.map(({ policy }) => policy);
}

function readPlaces(settings: LayeredSettings) {
  return {
    oomScoreAdj: settings.preset('oomScoreAdj'),
    metrics: settings.preset('metrics', 'listen').address,
    metricsTokenFile: settings.optional('metrics', 'tokenFile'),
    controlSocket: { group: settings.optional('controlSocket', 'group') },
    journal: {
      maxBytes: Number(settings.preset('journal', 'maxSize')),
      maxFiles: settings.preset('journal', 'maxFiles'),
    },
    stateDirectory: settings.preset('stateDirectory'),
    runtimeDirectory: settings.preset('runtimeDirectory'),
    log: {
      format: settings.preset('log', 'format'),
      level: settings.preset('log', 'level'),
    },
  };
}

function refuseOwnKeys({ files, flags }: Layers, { compatibility, departures }: Profile, report: Report): void {
  if (compatibility !== 'kubelet') return;
  const refuse = (layer: Layer, key: string, has: string): void => {
    const message = `${key}: the kubelet has no ${has}, and compatibility is kubelet`;
    report.issue('EVICTD_CONFIG_PROFILE', message, layer.keyAt([key]), 'remove it, or set compatibility: evictd');
  };
  for (const layer of [...files, flags]) {
    if ((layer.settings.thresholds ?? []).length > 0) refuse(layer, 'thresholds', 'such list');
    if (layer.settings.hooks !== undefined) refuse(layer, 'hooks', 'hooks');
    if (layer.settings.pressureWindow !== undefined) refuse(layer, 'pressureWindow', 'pressure signals');
    if (layer.settings.evictionBudget !== undefined && !departures.budget) refuse(layer, 'evictionBudget', 'budget');
  }
}

/** The root cgroup is the whole machine. */
function unlessRoot(cgroup: string | undefined): string | undefined {
  return cgroup === '/' ? undefined : cgroup;
}

/** The defaults without imagefs: if imagefs is the nodefs, they would be a second, higher threshold of nodefs. */
function withoutImages(defaults: Layer): Layer {
  const hard = Object.entries(defaults.settings.evictionHard ?? {}).filter(([signal]) => !signal.startsWith('imagefs.'));
  return { ...defaults, settings: { ...defaults.settings, evictionHard: Object.fromEntries(hard) } };
}

/**
 * The thresholds without the default of the departure thrashing if it does not apply: memory evicts no workload, a
 * configured entry replaces it, or the node is a cgroup, which has no pressure of its own on v1.
 */
function withThrashing(
  items: readonly ListItem<ThresholdEntry>[],
  { defaults, files, flags }: Layers,
  { departures }: Profile,
  bySignal: readonly Threshold[],
): readonly ListItem<ThresholdEntry>[] {
  const configured = items.filter(({ layer }) => layer !== defaults);
  const isMachine = ![...files, flags].some(({ settings }) => unlessRoot(settings.node?.cgroup) !== undefined);
  const evictsForMemory = bySignal.some(({ signal }) => signal === 'memory.available');
  const applies = departures.thrashing && isMachine && evictsForMemory && !configured.some(({ value }) => joinsPressure(value));
  return applies ? items : configured;
}

function joinsPressure({ when }: ThresholdEntry): boolean {
  const signals = when.map(({ signal }) => signal);
  return signals.includes('memory.available') && signals.some((signal) => signal.startsWith('memory.pressure.'));
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
