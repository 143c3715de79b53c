import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { PolicyScope } from './policy-state.js';
import { endLadder, type TurnContext, type TurnResult } from './policy-turn.js';
import type { JudgedTurn } from './scope-turns.js';

const FINGERPRINTS = new WeakMap<ConfiguredPolicy, string>();

/** What the state of a scope is about: when the policy acts, and its steps. Equal for policies that differ in nothing of it. */
export function fingerprintOf(configured: ConfiguredPolicy): string {
  const known = FINGERPRINTS.get(configured);
  if (known !== undefined) return known;
  const { when, unless, forNs, then: steps } = configured;
  const asText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
  const text = JSON.stringify([when, unless ?? null, forNs, steps], asText);
  FINGERPRINTS.set(configured, text);
  return text;
}

/**
 * Ends the ladder of a policy that a reload has changed under its name. The new one begins anew: for how long the old
 * condition held, and which of the old steps is under way, says nothing about it. The cooldown still runs, and the
 * readings stay.
 */
export function withoutOldLadder(
  context: Pick<TurnContext, 'memory' | 'nowNs'>,
  turn: JudgedTurn,
  before: TurnResult,
): { readonly turn: JudgedTurn; readonly turned: TurnResult } {
  const { fingerprint } = turn.scope;
  if (fingerprint === undefined || fingerprint === fingerprintOf(turn.configured)) return { turn, turned: before };
  const { scope: ended, turned } = endLadder(context, turn, before, 'policy-removed');
  const { policy, scope, notBeforeNs } = ended;
  const fresh: PolicyScope = { policy, scope, ...(notBeforeNs !== undefined && { notBeforeNs }) };
  return { turn: { ...turn, scope: fresh }, turned };
}
