import type { StepInput } from '../decide/step-input.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import { remember, type ScopeHistory } from '../policy/scope-history.js';
import type { ScopeReading } from '../policy/scope-reading.js';
import { scopeKey, type PolicyScope } from './policy-state.js';
import { nodeReading, truthOf, windowsOf } from './policy-truth.js';

/** Whether a policy's condition still holds for one of its scopes. Reads nothing before the first question. */
export type ConditionRecheck = (configured: ConfiguredPolicy, key: string, scope: PolicyScope) => boolean;

/**
 * Reads the conditions once more after the candidates: a workload may have ended since, and evicting the next one would
 * be pointless. Where nothing can be read anew, the condition holds.
 *
 * @param node  what the step has read of the node
 */
export function conditionRecheck({ policyRecheck, recheck, nowNs }: StepInput, node: ScopeHistory | undefined): ConditionRecheck {
  if (policyRecheck === undefined) return () => true;
  let reread: { readonly node: ScopeReading | undefined; readonly scopes: ReadonlyMap<string, readonly ScopeReading[]> } | undefined;
  const readAgain = (): NonNullable<typeof reread> => {
    const read = policyRecheck();
    return { node: nodeReading(read?.node, recheck?.(), nowNs + 1n), scopes: read?.scopes ?? new Map() }; // newer than the step's
  };
  return (configured, key, { history }) => {
    reread ??= readAgain();
    const { longestNs } = windowsOf(configured);
    const ofNode = reread.node && { node: remember(node, reread.node, longestNs) };
    if (configured.scope === undefined) return truthOf(configured, { ...ofNode }) === true;
    const read = reread.scopes.get(configured.name)?.find(({ path, id }) => scopeKey(configured.name, path, id) === key);
    return read !== undefined && truthOf(configured, { cgroup: remember(history, read, longestNs), ...ofNode }) === true;
  };
}
