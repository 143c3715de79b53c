/** The library: the pure step with the values that it takes and gives, and the native layer. */
export { departuresOf, type Departures } from './core/departure.js';
export { DurationError, formatDuration, parseDuration } from './core/duration.js';
export type { Effect } from './core/effect.js';
export type { Decision, Outcome, VictimReading } from './core/eviction.js';
export type { StepInput } from './core/input.js';
export type { Observation, Observations } from './core/observation.js';
export { compareQuantities, formatBytes, parseQuantity, QuantityError, quantityValue, type Quantity } from './core/quantity.js';
export { rank, type RankedWorkload } from './core/rank.js';
export { isSignal, SIGNALS, type Signal } from './core/signal.js';
export { initialState, type Policy, type State } from './core/state.js';
export { step, type StepResult } from './core/step.js';
export { thresholdId, thresholdMet, type Threshold, type ThresholdValue } from './core/threshold.js';
export type { Candidates, Workload, WorkloadStats, WorkloadUsage } from './core/workload.js';
export { native, type Binding } from './native/index.js';
