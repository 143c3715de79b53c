import { conditionText } from '../condition/condition-text.js';
import type { Truth } from '../policy/condition.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { ConditionReadings } from '../policy/evaluate-condition.js';
import { mayHold } from '../policy/scope-extremes.js';
import { remember } from '../policy/scope-history.js';
import type { PolicyReadings, ScopeReading } from '../policy/scope-reading.js';
import type { SharedReadings } from './condition-recheck.js';
import { scopeKey, type PolicyScope, type PolicyState } from './policy-state.js';
import { readingsOf, truthOf, windowsOf } from './policy-truth.js';
import type { Turn } from './policy-turn.js';

export type JudgedTurn = Turn & { readonly truth: Truth };

/**
 * A turn for each scope of a policy, of those that could not be read for those that are known. A scope where the condition
 * does not hold, and of which nothing is remembered, has no turn: mostly that is all of them.
 *
 * @param remembered  the policies with a scope of which something is remembered
 */
export function turnsOf(
  configured: ConfiguredPolicy,
  before: PolicyState,
  readings: PolicyReadings | undefined,
  shared: SharedReadings,
  remembered: ReadonlySet<string>,
): readonly JudgedTurn[] {
  if (configured.scope === undefined) return [turnOf(configured, before, '', undefined, shared)];
  const read = readings?.scopes.get(configured.name);
  if (read === undefined) {
    const known = [...before.scopes].filter(([, { policy }]) => policy === configured.name);
    return known.map(([key, scope]) => unreadTurn(configured, key, scope));
  }
  const { longestNs } = windowsOf(configured);
  const needsAll = longestNs > 0n || remembered.has(configured.name);
  // What is not known of a cgroup may become true or false, but does not change what the node and named cgroups decide.
  if (!needsAll && (truthOf(configured, shared) === false || !mayHold(configured.when, read))) return [];
  const all = needsAll ? read : read.filter((reading) => holds(configured, reading, shared));
  return all.map((reading) => {
    const key = scopeKey(configured.name, reading.path, reading.id);
    const cgroup = remember(before.scopes.get(key)?.history, reading, longestNs);
    return turnOf(configured, before, reading.path, reading.id, { cgroup, ...shared });
  });
}

function holds(configured: ConfiguredPolicy, reading: ScopeReading, shared: SharedReadings): boolean {
  return truthOf(configured, { cgroup: { readings: [reading] }, ...shared }) === true;
}

function turnOf(
  configured: ConfiguredPolicy,
  before: PolicyState,
  path: string,
  id: bigint | undefined,
  readings: ConditionReadings,
): JudgedTurn {
  const { name: policy } = configured;
  const key = scopeKey(policy, path, id);
  const truth = truthOf(configured, readings);
  const scope: PolicyScope = { ...before.scopes.get(key), policy, scope: path, history: readings.cgroup };
  const isSilent = truth !== true && scope.ladder === undefined;
  return {
    configured,
    key,
    scope,
    truth,
    reason: { policy, scope: path, condition: conditionOf(configured), ...(isSilent ? UNREAD : readingsOf(configured, readings)) },
  };
}

export function unreadTurn(configured: ConfiguredPolicy, key: string, scope: PolicyScope): JudgedTurn {
  const reason = { policy: scope.policy, scope: scope.scope, condition: conditionOf(configured), ...UNREAD };
  return { configured, key, scope, truth: 'unknown', reason };
}

const UNREAD = { values: {} } as const;

const TEXTS = new WeakMap<ConfiguredPolicy, string>();

/** 'memory.pressure.full > 40% unless memory.pressure.full falling over 10s'. */
export function conditionOf(configured: ConfiguredPolicy): string {
  const known = TEXTS.get(configured);
  if (known !== undefined) return known;
  const kind = configured.scope === undefined ? 'node' : 'cgroup';
  const unless = configured.unless === undefined ? '' : ` unless ${conditionText(configured.unless, kind)}`;
  const text = conditionText(configured.when, kind) + unless;
  TEXTS.set(configured, text);
  return text;
}

/** Whether the next step needs anything of this scope: its history for a window, or its state. */
export function isToRemember(configured: ConfiguredPolicy, scope: PolicyScope, nowNs: bigint): boolean {
  const { holdsSinceNs, ladder, notBeforeNs = 0n, awaitsRelief } = scope;
  const hasState = holdsSinceNs !== undefined || ladder !== undefined || awaitsRelief === true || notBeforeNs > nowNs;
  return hasState || windowsOf(configured).longestNs > 0n;
}
