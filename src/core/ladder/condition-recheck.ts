import type { StepInput } from '../decide/step-input.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { ConditionReadings } from '../policy/evaluate-condition.js';
import { remember, type ScopeHistory, historyIn, type ScopePasses } from '../policy/scope-history.js';
import type { PolicyReadings, ScopeReading } from '../policy/scope-reading.js';
import { scopeKey } from './policy-state.js';
import { nodeReading, truthOf, windowsOf } from './policy-truth.js';

/** What the conditions of all policies may be about: the node, and the cgroups that they name. */
export type SharedReadings = Omit<ConditionReadings, 'cgroup'>;

/** Keeps the readings of named cgroups, by path. */
export function rememberNamed(
  before: ReadonlyMap<string, ScopeHistory> | undefined,
  readings: readonly ScopeReading[],
  windowNs: bigint,
): ReadonlyMap<string, ScopeHistory> {
  return new Map(readings.map((reading) => [reading.path, remember(before?.get(reading.path), reading, windowNs)]));
}

/** Whether a policy's condition still holds for one of its scopes. Reads nothing before the first question. */
export type ConditionRecheck = (configured: ConfiguredPolicy, key: string) => boolean;

/**
 * Reads the conditions once more after the candidates: a workload may have ended since, and evicting the next one would
 * be pointless. Where nothing can be read anew, the condition holds.
 *
 * @param shared  what the step has read of the node, and of named cgroups
 * @param passes  of the cgroups of scopes
 */
export function conditionRecheck(
  { policyRecheck, recheck, nowNs }: StepInput,
  shared: SharedReadings,
  passes: ScopePasses,
): ConditionRecheck {
  if (policyRecheck === undefined) return () => true;
  let reread: PolicyReadings | undefined;
  const readAgain = (): PolicyReadings => {
    const read = policyRecheck();
    const node = nodeReading(read?.node, recheck?.(), nowNs + 1n); // newer than the step's
    return { scopes: read?.scopes ?? new Map(), ...(node && { node }), ...(read?.named && { named: read.named }) };
  };
  return (configured, key) => {
    reread ??= readAgain();
    const { longestNs } = windowsOf(configured);
    const again: SharedReadings = {
      ...(reread.node && { node: remember(shared.node, reread.node, longestNs) }),
      ...(reread.named && { named: rememberNamed(shared.named, reread.named, longestNs) }),
    };
    if (configured.scope === undefined) return truthOf(configured, again) === true;
    const read = reread.scopes.get(configured.name)?.find(({ path, id }) => scopeKey(configured.name, path, id) === key);
    return read !== undefined && truthOf(configured, { cgroup: historyIn(passes, read), ...again }) === true;
  };
}
