import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { NO_CANDIDATES } from '../workload/workload.js';
import { latest } from '../policy/scope-history.js';
import { isBusy, policiesLeadNs } from './policy-deadline.js';
import { stepPolicies } from './policy-step.js';

/** Not asked for while no condition holds. */
const REST = { layout: 'single', victims: new Map(), reclaimed: undefined, candidates: () => NO_CANDIDATES } as const;

/** No condition holds. */
export interface PolicyLook {
  /** It remembers the readings as after a step. */
  readonly state: State;
  /** For so long no condition can become true. */
  readonly leadNs: bigint;
}

/**
 * Judges the policies between two steps. undefined: a condition holds, or something is under way, so that a step has to
 * decide.
 *
 * @param bytesPerSecond  how fast memory may be filled
 */
export function lookAtPolicies(
  policy: Policy,
  state: State,
  input: Pick<StepInput, 'nowNs' | 'observe' | 'policyReadings'>,
  bytesPerSecond: number,
): PolicyLook | undefined {
  if (isBusy(state.policies)) return undefined;
  const looked = stepPolicies(policy, { state, effects: [] }, { ...REST, ...input });
  const needsStep = looked === undefined || looked.isAwaiting || looked.effects.length > 0 || isBusy(looked.state.policies);
  if (needsStep) return undefined;
  const [scopes, { node }] = [input.policyReadings?.()?.scopes, looked.state.policies];
  const readings = { node: node && latest(node) };
  const leadNs = policiesLeadNs(policy.policies ?? [], ({ name }) => ({ ...readings, scope: scopes?.get(name) }), bytesPerSecond);
  return { state: looked.state, leadNs };
}
