/** The library: the pure core, the adapters' contracts, and the native layer. */
export * from './core/amount.js';
export * from './core/duration.js';
export * from './core/quantity.js';
export type * from './core/observation.js';
export * from './core/rank.js';
export * from './core/signal.js';
export * from './core/state.js';
export * from './core/step.js';
export * from './core/threshold.js';
export type * from './core/workload.js';
export type { Effect } from './core/effect.js';
export type { Decision, Outcome, VictimReading } from './core/eviction.js';
export * from './errors.js';
export type * from './monitor/ports.js';
export { native } from './native/index.js';
