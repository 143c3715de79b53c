import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { NO_CANDIDATES } from '../workload/workload.js';
import { isBusy } from './policy-deadline.js';
import { stepPolicies } from './policy-step.js';

/** Not asked for while no condition holds. */
const REST = { layout: 'single', victims: new Map(), reclaimed: undefined, candidates: () => NO_CANDIDATES } as const;

/**
 * Judges the policies between two steps: the state with what a step would remember of these readings. undefined: a
 * condition holds, or something is under way, so that a step has to decide.
 */
export function lookAtPolicies(
  policy: Policy,
  state: State,
  input: Pick<StepInput, 'nowNs' | 'observe' | 'policyReadings'>,
): State | undefined {
  if (isBusy(state.policies)) return undefined;
  const looked = stepPolicies(policy, { state, effects: [] }, { ...REST, ...input });
  const needsStep = looked === undefined || looked.isAwaiting || looked.effects.length > 0 || isBusy(looked.state.policies);
  return needsStep ? undefined : looked.state;
}
