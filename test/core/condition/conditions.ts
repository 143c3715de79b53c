import type { ConditionProblem } from '../../../src/core/condition/condition-problem.js';
import { parseCondition } from '../../../src/core/condition/parse-condition.js';
import type { Condition, ScopeKind } from '../../../src/core/policy/condition.js';

export const SECOND_NS = 1_000_000_000n;

/** With a pressure window of 2 s. */
export function conditionOf(text: string, scope: ScopeKind): Condition {
  const parsed = parseCondition(text, { scope, pressureWindowNs: 2n * SECOND_NS });
  if ('condition' in parsed) return parsed.condition;
  throw new Error(`${text}: ${parsed.problems.map(({ message }) => message).join('; ')}`);
}

export function problemsOf(text: string, scope: ScopeKind): readonly ConditionProblem[] {
  const parsed = parseCondition(text, { scope, pressureWindowNs: 2n * SECOND_NS });
  return 'problems' in parsed ? parsed.problems : [];
}
