import type { Policy } from '../decide/state.js';
import { scopeDueNs } from './ladder.js';
import { conditionLeadS, longestWindowS, type LeadReadings } from '../policy/condition-lead.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { PolicyState } from './policy-state.js';
import { windowsOf } from './policy-truth.js';

/** How often scopes are read: while no condition holds, and while one does. */
const CALM_NS = 2_000_000_000n;
const BUSY_NS = 1_000_000_000n;
const MIN_NS = 500_000_000n;
/** However far away a condition is: limits change, and cgroups are moved. */
const LONGEST_LEAD_NS = 10_000_000_000n;

/** Whether a condition holds, or something is throttled or frozen. */
export function isBusy({ scopes, restraints }: PolicyState): boolean {
  return (
    restraints.length > 0 || [...scopes.values()].some(({ holdsSinceNs, ladder }) => holdsSinceNs !== undefined || ladder !== undefined)
  );
}

/**
 * The time in which no condition can become true. The window of `unless` must have been read before.
 *
 * @param readingsOf  what was read just now
 * @param bytesPerSecond  how fast memory may be filled
 */
export function policiesLeadNs(
  configured: readonly ConfiguredPolicy[],
  readingsOf: (policy: ConfiguredPolicy) => LeadReadings,
  bytesPerSecond: number,
): bigint {
  let lead = LONGEST_LEAD_NS;
  for (const policy of configured) {
    const unlessS = policy.unless === undefined ? 0 : longestWindowS([policy.unless]);
    const ownNs = (conditionLeadS(policy.when, readingsOf(policy), bytesPerSecond) - unlessS) * 1e9;
    if (ownNs < Number(lead)) lead = BigInt(Math.trunc(Math.max(ownNs, 0)));
    if (lead === 0n) break;
  }
  return lead;
}

/**
 * When policies have to be judged again without any event; undefined: there are none.
 *
 * @param leadNs  from `policiesLeadNs`
 */
export function policiesDueNs(
  policy: Pick<Policy, 'policies' | 'shuttingDown'>,
  state: PolicyState,
  nowNs: bigint,
  leadNs = 0n,
): bigint | undefined {
  const { policies: configured = [], shuttingDown } = policy;
  if (configured.length === 0 || shuttingDown) return undefined;
  let everyNs = isBusy(state) ? BUSY_NS : CALM_NS;
  for (const policy of configured) {
    const { shortestNs } = windowsOf(policy);
    if (shortestNs !== undefined && shortestNs / 2n < everyNs) everyNs = shortestNs / 2n;
  }
  let due = nowNs + leadNs + (everyNs > MIN_NS ? everyNs : MIN_NS);
  const forNs = new Map(configured.map((policy) => [policy.name, policy.forNs]));
  for (const scope of state.scopes.values()) {
    const scopeNs = scopeDueNs(scope, forNs.get(scope.policy) ?? 0n);
    if (scopeNs !== undefined && scopeNs > nowNs && scopeNs < due) due = scopeNs;
  }
  return due;
}
