import { DEPARTURES, departuresOf, type Compatibility, type Departures } from '../core/departure.js';
import type { AllocatableConfig, Origin } from './config.js';
import type { LayeredSettings } from './layered.js';
import { enforcesPods } from './threshold-config.js';

/** What decides how the rest of a configuration is read. */
export interface Profile {
  readonly compatibility: Compatibility;
  readonly departures: Departures;
  readonly allocatable: AllocatableConfig | undefined;
  /** What decides whether the departure `allocatable` is taken. */
  readonly allocatableOrigin: Origin;
  /** Hard memory thresholds hold for allocatableMemory.available, too. */
  readonly enforceAllocatable: boolean;
  /** Hard thresholds that are not set keep their default; undefined: nobody says so, the departure decides. */
  readonly mergeDefaults: boolean | undefined;
}

export function readProfile(settings: LayeredSettings): Profile {
  const compatibility = settings.preset(['compatibility'], (layer) => layer.compatibility);
  const departures = readDepartures(settings, compatibility);
  const cgroup = settings.optional(['allocatable', 'cgroup'], (layer) => layer.allocatable?.cgroup);
  const capacity = settings.optional(['allocatable', 'capacity'], (layer) => layer.allocatable?.capacity);
  const allocatable = cgroup === undefined || capacity === undefined ? undefined : { cgroup, capacity };
  const enforced = settings.preset(['enforceNodeAllocatable'], (layer) => layer.enforceNodeAllocatable);
  const isSet = settings.setBy((layer) => layer.mergeDefaultEvictionSettings) !== undefined;
  const merge = settings.derived(
    ['mergeDefaultEvictionSettings'],
    (layer) => layer.mergeDefaultEvictionSettings,
    departures['merge-defaults'],
    settings.following('departures.merge-defaults'),
  );
  return {
    compatibility,
    departures,
    allocatable,
    allocatableOrigin: settings.following('departures.allocatable'),
    enforceAllocatable: enforcesPods(enforced) && (allocatable !== undefined || !departures.allocatable),
    mergeDefaults: isSet ? merge : undefined,
  };
}

function readDepartures(settings: LayeredSettings, compatibility: Compatibility): Departures {
  const profile = departuresOf(compatibility);
  const origin = settings.following('compatibility');
  const taken = DEPARTURES.map((name) => {
    return [name, settings.derived(['departures', name], (layer) => layer.departures?.[name], profile[name], origin)] as const;
  });
  return departuresOf(compatibility, Object.fromEntries(taken));
}
