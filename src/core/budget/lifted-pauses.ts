import type { Resource, Signal } from '../signal/signal.js';
import type { OperatorPause, OperatorPauses } from '../pause/operator-pause.js';
import type { EvictionTimes } from './eviction-budget.js';
import { memoryBase, type GrowthBases } from './growth-base.js';

/** The part of a state that pauses evictions. */
interface Pausing {
  readonly evictionTimes: EvictionTimes;
  readonly withoutYield: ReadonlyMap<Signal, unknown>;
  readonly baselines: GrowthBases;
  readonly pauses: OperatorPauses;
  readonly settled: ReadonlyMap<string, string>;
}

/** The pauses that ended because an operator asked evictd to evict again. */
export interface LiftedPauses {
  /** The number of evictions that the budget counted, by resource. */
  readonly evictions: ReadonlyMap<Resource, number>;
  /** Signals whose last eviction freed too little (departure no-yield). */
  readonly withoutYield: readonly Signal[];
  /** A consumer that may not be evicted took the memory that the last eviction freed. */
  readonly leak: boolean;
  /** Pauses that an operator set. */
  readonly pauses: readonly OperatorPause[];
}

/** The alerts of these pauses come again if evictd pauses again. */
const ALERTS = ['budget-exhausted ', 'leak-elsewhere ', 'no-yield ', 'paused '];

export function pausesIn({ evictionTimes, withoutYield, baselines, pauses }: Omit<Pausing, 'settled'>): LiftedPauses {
  const counted = [...evictionTimes].map(([resource, { length }]) => [resource, length] as const);
  return {
    evictions: new Map(counted.filter(([, count]) => count > 0)),
    withoutYield: [...withoutYield.keys()],
    leak: memoryBase(baselines)?.base.since.kind === 'leak',
    pauses: [...pauses.values()],
  };
}

export function withoutPauses<S extends Pausing>(state: S): S {
  return {
    ...state,
    evictionTimes: new Map(),
    withoutYield: new Map(),
    baselines: new Map(),
    pauses: new Map(),
    settled: new Map([...state.settled].filter(([key]) => !ALERTS.some((alert) => key.startsWith(alert)))),
  };
}

/** 'an operator resumed evictions: the budget counts anew (it had counted 5 for memory)'. */
export function resumeMessage({ evictions, withoutYield, leak, pauses }: LiftedPauses, by = 'an operator'): string {
  const counts = [...evictions].map(([resource, count]) => `${String(count)} for ${resource}`);
  const lifted = [
    ...pauses.map(({ workload, reason }) => `the pause${workload === undefined ? '' : ` of ${workload.name}`} is over (${reason})`),
    ...(counts.length === 0 ? [] : [`the budget counts anew (it had counted ${counts.join(', ')})`]),
    ...(withoutYield.length === 0 ? [] : [`the pause after an eviction without effect is over (${withoutYield.join(', ')})`]),
    ...(leak ? ['the pause for a leak that no eviction cures is over'] : []),
  ];
  return `${by} resumed evictions: ${lifted.length === 0 ? 'nothing was paused' : lifted.join('; ')}`;
}
