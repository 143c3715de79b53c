import { DEPARTURES, departuresOf, type Compatibility, type Departures } from '../../core/decide/departures.js';
import type { AllocatableConfig, Origin } from '../config.js';
import type { LayeredSettings } from './layer.js';
import { enforcesPods } from '../resolve/thresholds.js';

/** The settings that decide how evictd reads the others. */
export interface Profile {
  readonly compatibility: Compatibility;
  readonly departures: Departures;
  readonly allocatable: AllocatableConfig | undefined;
  readonly allocatableOrigin: Origin;
  /** Hard memory thresholds also hold for allocatableMemory.available. */
  readonly enforceAllocatable: boolean;
  /** `mergeDefaultEvictionSettings`; undefined: not set, the departure merge-defaults decides. */
  readonly mergeDefaults: boolean | undefined;
}

export function readProfile(settings: LayeredSettings): Profile {
  const compatibility = settings.preset('compatibility');
  const departures = readDepartures(settings, compatibility);
  const cgroup = settings.optional('allocatable', 'cgroup');
  const capacity = settings.optional('allocatable', 'capacity');
  const allocatable = cgroup === undefined ? undefined : { cgroup, capacity };
  const enforced = settings.preset('enforceNodeAllocatable');
  const isSet = settings.setBy('mergeDefaultEvictionSettings') !== undefined;
  const merge = settings.derived(
    ['mergeDefaultEvictionSettings'],
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
    return [name, settings.derived(['departures', name], profile[name], origin)] as const;
  });
  return departuresOf(compatibility, Object.fromEntries(taken));
}
