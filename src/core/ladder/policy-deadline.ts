import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import { scopeDueNs } from './ladder.js';
import type { PolicyState } from './policy-state.js';
import { windowsOf } from './policy-truth.js';

/** How often scopes are read: while no condition holds, and while one does. */
const CALM_NS = 2_000_000_000n;
const BUSY_NS = 1_000_000_000n;
const MIN_NS = 500_000_000n;

/** When policies need a step without any event; undefined: there are none. */
export function policiesDueNs(
  configured: readonly ConfiguredPolicy[],
  { scopes, restraints }: PolicyState,
  nowNs: bigint,
): bigint | undefined {
  if (configured.length === 0) return undefined;
  const isBusy =
    restraints.length > 0 || [...scopes.values()].some(({ holdsSinceNs, ladder }) => holdsSinceNs !== undefined || ladder !== undefined);
  let everyNs = isBusy ? BUSY_NS : CALM_NS;
  for (const policy of configured) {
    const { shortestNs } = windowsOf(policy);
    if (shortestNs !== undefined && shortestNs / 2n < everyNs) everyNs = shortestNs / 2n;
  }
  let due = nowNs + (everyNs > MIN_NS ? everyNs : MIN_NS);
  const forNs = new Map(configured.map((policy) => [policy.name, policy.forNs]));
  for (const scope of scopes.values()) {
    const scopeNs = scopeDueNs(scope, forNs.get(scope.policy) ?? 0n);
    if (scopeNs !== undefined && scopeNs > nowNs && scopeNs < due) due = scopeNs;
  }
  return due;
}
