import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { NO_CANDIDATES } from '../workload/workload.js';
import { operandsOf, resolve } from '../threshold/threshold.js';
import type { ScopeReading } from '../policy/scope-reading.js';
import { latest } from '../policy/scope-history.js';
import { isBusy, policiesLeadNs } from './policy-deadline.js';
import { stepPolicies } from './policy-step.js';

/** Not asked for while no condition holds. */
const REST = { layout: 'single', victims: new Map(), reclaimed: undefined, candidates: () => NO_CANDIDATES } as const;

/** No condition holds. */
export interface PolicyLook {
  /** It remembers the readings as after a step. */
  readonly state: State;
  /** The time in which no condition can become true. */
  readonly leadNs: bigint;
}

/** What bounds when a condition can become true. */
export interface LeadBounds {
  /** How fast memory may be filled. */
  readonly bytesPerSecond: number;
  /** Whether each threshold has a live notifier. */
  readonly isWatched: boolean;
}

/**
 * Judges the policies between two steps. undefined: a condition holds, or something is under way, so that a step has to
 * decide.
 */
export function lookAtPolicies(
  policy: Policy,
  state: State,
  input: Pick<StepInput, 'nowNs' | 'observe' | 'policyReadings'>,
  { bytesPerSecond, isWatched }: LeadBounds,
): PolicyLook | undefined {
  if (isBusy(state.policies)) return undefined;
  const looked = stepPolicies(policy, { state, effects: [] }, { ...REST, ...input });
  const needsStep = looked === undefined || looked.isAwaiting || looked.effects.length > 0 || isBusy(looked.state.policies);
  if (needsStep) return undefined;
  const [scopes, { node }] = [input.policyReadings?.()?.scopes, looked.state.policies];
  const ofNode = node && latest(node);
  const readings = { node: ofNode, watched: isWatched ? watchedBytes(policy, ofNode) : undefined };
  const leadNs = policiesLeadNs(policy.policies ?? [], ({ name }) => ({ ...readings, scope: scopes?.get(name) }), bytesPerSecond);
  return { state: looked.state, leadNs };
}

/** The largest memory.available that a threshold has as its bound; undefined: none has. */
function watchedBytes({ thresholds }: Policy, node: ScopeReading | undefined): number | undefined {
  const capacity = node?.values.get('memory.available.capacity');
  const operands = thresholds.flatMap(operandsOf).filter(({ signal }) => signal === 'memory.available');
  if (capacity === undefined || operands.length === 0) return undefined;
  return Math.max(...operands.map(({ value }) => Number(resolve(value, BigInt(capacity)))));
}
