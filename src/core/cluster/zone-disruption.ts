// How fast nodes that are not ready are tainted (pkg/controller/nodelifecycle, ComputeZoneState and handleDisruption, v1.36.2).

export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** The names and defaults are those of kube-controller-manager's flags. */
export interface EvictionRates {
  /** Nodes per second, in each zone. */
  readonly nodeEvictionRate: number;
  /** The rate in a large zone where many nodes are not ready. */
  readonly secondaryNodeEvictionRate: number;
  /** The share of nodes of a zone, 0 to 1, that are not ready from which on the zone is disrupted. */
  readonly unhealthyZoneThreshold: number;
  /** A zone with more nodes is large. */
  readonly largeClusterSizeThreshold: number;
}

export const DEFAULT_RATES: EvictionRates = {
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  unhealthyZoneThreshold: 0.55,
  largeClusterSizeThreshold: 50,
};

/** The number of nodes that are not ready below which a zone is not disrupted, unless they are all nodes. */
const MIN_DISRUPTED = 3;

export interface ZoneCount {
  readonly ready: number;
  readonly notReady: number;
}

export function zoneState({ ready, notReady }: ZoneCount, { unhealthyZoneThreshold }: EvictionRates): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  const share = notReady / (ready + notReady);
  return notReady >= MIN_DISRUPTED && share >= unhealthyZoneThreshold ? 'PartialDisruption' : 'Normal';
}

/** Nodes per second. A zone of which no node is ready is evicted as any other: the caller sees to it that another one works. */
export function evictionRate({ ready, notReady }: ZoneCount, state: ZoneState, rates: EvictionRates): number {
  if (state !== 'PartialDisruption') return rates.nodeEvictionRate;
  return ready + notReady > rates.largeClusterSizeThreshold ? rates.secondaryNodeEvictionRate : 0;
}
