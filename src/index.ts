/** The library: a check of this machine, the pure step with the values that it takes and gives, and the native layer. */
export { departuresOf, type Departures } from './core/decide/departures.js';
export { DurationError, formatDuration, parseDuration } from './core/quantity/duration.js';
export type { Effect } from './core/decide/effect.js';
export type { Decision, Outcome, VictimReading } from './core/decide/eviction.js';
export type { StepInput } from './core/decide/step-input.js';
export type { Observation, Observations } from './core/signal/observation.js';
export { compareQuantities, formatBytes, parseQuantity, QuantityError, quantityValue, type Quantity } from './core/quantity/quantity.js';
export { rank, type RankedWorkload } from './core/rank/rank.js';
export { isSignal, SIGNALS, type Signal } from './core/signal/signal.js';
export { initialState, type Policy, type State } from './core/decide/state.js';
export { step, type StepResult } from './core/decide/step.js';
export { thresholdId, thresholdMet, type Threshold, type ThresholdValue } from './core/threshold/threshold.js';
export type { Candidates, Workload, WorkloadStats, WorkloadUsage } from './core/workload/workload.js';
export { ConfigError, EvictdError } from './errors.js';
export { check, loadConfig, type CheckResult, type Configuration, type ConfigurationSources } from './features/check/library.js';
export { native, type Binding } from './native/index.js';
