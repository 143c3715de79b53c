import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { NO_CANDIDATES } from '../workload/workload.js';
import { operandsOf, resolve } from '../threshold/threshold.js';
import type { LeadReadings } from '../policy/condition-lead.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { PolicyReadings, ScopeReading } from '../policy/scope-reading.js';
import { latest } from '../policy/scope-history.js';
import { isBusy, policiesLeadNs } from './policy-deadline.js';
import { stepPolicies } from './policy-step.js';

/** The parts of the input that are not read while no condition holds. */
const REST = { layout: 'single', victims: new Map(), reclaimed: undefined, candidates: () => NO_CANDIDATES } as const;

/** No condition holds. */
export interface PolicyLook {
  /** It remembers the readings as after a step. */
  readonly state: State;
  /** The time in which no condition can become true. */
  readonly leadNs: bigint;
}

/** The bounds of the time at which a condition can become true. */
export interface LeadBounds {
  /** How fast memory may be filled. */
  readonly bytesPerSecond: number;
  /** Whether each threshold has a live notifier. */
  readonly isWatched: boolean;
  /** See LeadReadings. */
  readonly watchedPressure?: ReadonlySet<string>;
}

/**
 * Judges the policies between two steps. undefined: a condition holds, or something is under way, so that a step has to
 * decide.
 */
export function lookAtPolicies(
  policy: Policy,
  state: State,
  input: Pick<StepInput, 'nowNs' | 'observe' | 'policyReadings'>,
  bounds: LeadBounds,
): PolicyLook | undefined {
  if (isBusy(state.policies)) return undefined;
  const looked = stepPolicies(policy, { state, effects: [] }, { ...REST, ...input });
  const needsStep = looked === undefined || looked.isAwaiting || looked.effects.length > 0 || isBusy(looked.state.policies);
  if (needsStep) return undefined;
  return { state: looked.state, leadNs: restOfPolicies(policy, looked.state, input.policyReadings?.(), bounds) };
}

/**
 * The time in which no condition can become true after a step or a look.
 *
 * @param readings  what that has read of the scopes; undefined: nothing
 */
export function restOfPolicies(
  policy: Policy,
  { policies }: State,
  readings: PolicyReadings | undefined,
  { bytesPerSecond, isWatched, watchedPressure }: LeadBounds,
): bigint {
  if (readings === undefined || isBusy(policies)) return 0n;
  const { node, passes } = policies;
  const watched = isWatched ? watchedBytes(policy, node && latest(node)) : undefined;
  const readingsOf = ({ name }: ConfiguredPolicy): LeadReadings => ({
    ...{ node, passes, watched, watchedPressure },
    scope: readings.scopes.get(name),
  });
  return policiesLeadNs(policy.policies ?? [], readingsOf, bytesPerSecond);
}

/** The largest memory.available that a threshold has as its bound; undefined: none has. */
function watchedBytes({ thresholds }: Policy, node: ScopeReading | undefined): number | undefined {
  const capacity = node?.values.get('memory.available.capacity');
  const operands = thresholds.flatMap(operandsOf).filter(({ signal }) => signal === 'memory.available');
  if (capacity === undefined || operands.length === 0) return undefined;
  return Math.max(...operands.map(({ value }) => Number(resolve(value, BigInt(capacity)))));
}
