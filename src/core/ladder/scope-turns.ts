import { conditionText } from '../condition/condition-text.js';
import type { Truth } from '../policy/condition.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { ConditionReadings } from '../policy/evaluate-condition.js';
import { mayHold } from '../policy/scope-extremes.js';
import { latest, historyIn } from '../policy/scope-history.js';
import type { PolicyReadings } from '../policy/scope-reading.js';
import type { SharedReadings } from './condition-recheck.js';
import { scopeKey, type PolicyScope, type PolicyState } from './policy-state.js';
import { readingsOf, truthOf } from './policy-truth.js';
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
  if (configured.scope === undefined) return [turnOf(configured, before, scopeKey(configured.name, '', undefined), shared)];
  const read = readings?.scopes.get(configured.name);
  if (read === undefined) {
    const known = [...before.scopes].filter(([, { policy }]) => policy === configured.name);
    return known.map(([key, scope]) => unreadTurn(configured, key, scope));
  }
  const { passes } = before;
  const isRemembered = remembered.has(configured.name);
  // What is not known of a cgroup may become true or false, but does not change what the node and named cgroups decide.
  const mayAct = truthOf(configured, shared) !== false && mayHold(configured.when, read, passes);
  if (!mayAct && !isRemembered) return [];
  return read.flatMap((reading) => {
    const key = scopeKey(configured.name, reading.path, reading.id);
    if (!mayAct && !before.scopes.has(key)) return [];
    const turn = turnOf(configured, before, key, { cgroup: historyIn(passes, reading), ...shared });
    return turn.truth === true || before.scopes.has(key) ? [turn] : [];
  });
}

function turnOf(configured: ConfiguredPolicy, before: PolicyState, key: string, readings: ConditionReadings): JudgedTurn {
  const { name: policy } = configured;
  const path = (readings.cgroup && latest(readings.cgroup))?.path ?? '';
  const truth = truthOf(configured, readings);
  const scope: PolicyScope = { ...before.scopes.get(key), policy, scope: path };
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

/** Whether the next step needs anything of this scope. */
export function isToRemember({ holdsSinceNs, ladder, notBeforeNs = 0n, awaitsRelief }: PolicyScope, nowNs: bigint): boolean {
  return holdsSinceNs !== undefined || ladder !== undefined || awaitsRelief === true || notBeforeNs > nowNs;
}
