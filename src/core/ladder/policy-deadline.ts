import type { Policy } from '../decide/state.js';
import { scopeDueNs } from './ladder.js';
import type { PolicyState } from './policy-state.js';
import { windowsOf } from './policy-truth.js';

/** How often scopes are read: while no condition holds, and while one does. */
const CALM_NS = 2_000_000_000n;
const BUSY_NS = 1_000_000_000n;
const MIN_NS = 500_000_000n;

/** Whether a condition holds, or something is throttled or frozen. */
export function isBusy({ scopes, restraints }: PolicyState): boolean {
  return (
    restraints.length > 0 || [...scopes.values()].some(({ holdsSinceNs, ladder }) => holdsSinceNs !== undefined || ladder !== undefined)
  );
}

/** When policies have to be judged again without any event; undefined: there are none. */
export function policiesDueNs(policy: Pick<Policy, 'policies' | 'shuttingDown'>, state: PolicyState, nowNs: bigint): bigint | undefined {
  const { policies: configured = [], shuttingDown } = policy;
  if (configured.length === 0 || shuttingDown) return undefined;
  let everyNs = isBusy(state) ? BUSY_NS : CALM_NS;
  for (const policy of configured) {
    const { shortestNs } = windowsOf(policy);
    if (shortestNs !== undefined && shortestNs / 2n < everyNs) everyNs = shortestNs / 2n;
  }
  let due = nowNs + (everyNs > MIN_NS ? everyNs : MIN_NS);
  const forNs = new Map(configured.map((policy) => [policy.name, policy.forNs]));
  for (const scope of state.scopes.values()) {
    const scopeNs = scopeDueNs(scope, forNs.get(scope.policy) ?? 0n);
    if (scopeNs !== undefined && scopeNs > nowNs && scopeNs < due) due = scopeNs;
  }
  return due;
}
