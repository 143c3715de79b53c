import type { Condition } from '../../../core/policy/condition.js';
import { testsOf } from '../../../core/policy/condition-needs.js';
import type { Finding, LintRule } from '../lint-rule.js';
import { deadBranches, obstaclesTo, type ConditionFacts, type Obstacle } from './reachable-truth.js';

/** Policies that never or always act here, and branches of `|` that never hold: a value does not exist, or has a bound. */
export const policyConditionsRule: LintRule = {
  codes: ['EVICTD_LINT_POLICY_NEVER', 'EVICTD_LINT_POLICY_ALWAYS', 'EVICTD_LINT_POLICY_BRANCH'],
  find: ({ policies }, machine) => {
    if (machine?.policies === undefined) return [];
    const facts: ConditionFacts = { ...machine.policies, capacities: machine.capacities };
    return policies.flatMap(({ name, when, unless }, index): readonly Finding[] => {
      const key = (part: 'when' | 'unless'): string => `policies[${String(index)}].${part}`;
      const never = neverActs(name, key('when'), when, obstaclesTo(when, true, facts), 'remove the policy, or the test');
      if (never.length > 0) return never;
      const always = alwaysActs(name, key('when'), when, unless, facts);
      if (always.length > 0) return always;
      const branches = branchesOf(name, key('when'), when, facts);
      if (unless === undefined) return branches;
      const hint = 'remove the test: a policy acts only where unless is known to be false';
      const excepted = neverActs(name, key('unless'), unless, obstaclesTo(unless, false, facts), hint);
      return excepted.length > 0 ? excepted : [...branches, ...branchesOf(name, key('unless'), unless, facts)];
    });
  },
};

function neverActs(name: string, key: string, condition: Condition, obstacles: readonly Obstacle[], hint: string): readonly Finding[] {
  if (obstacles.length === 0) return [];
  const message = `${key}: ${name} never acts here: ${reasonsOf(obstacles)}`;
  return [{ level: 'warn', code: 'EVICTD_LINT_POLICY_NEVER', message, hint, key, test: placeOf(condition, obstacles) }];
}

/** The condition cannot be false, and the exception cannot be true. */
function alwaysActs(name: string, key: string, when: Condition, unless: Condition | undefined, facts: ConditionFacts): readonly Finding[] {
  const obstacles = obstaclesTo(when, false, facts, 'known');
  if (obstacles.length === 0 || (unless !== undefined && obstaclesTo(unless, true, facts, 'known').length === 0)) return [];
  const message = `${key}: ${name} always acts here: ${reasonsOf(obstacles)}`;
  const hint = 'write an amount that can be crossed here, or a percentage';
  return [{ level: 'warn', code: 'EVICTD_LINT_POLICY_ALWAYS', message, hint, key, test: placeOf(when, obstacles) }];
}

function branchesOf(name: string, key: string, condition: Condition, facts: ConditionFacts): readonly Finding[] {
  return deadBranches(condition, facts).map((obstacles) => {
    const message = `${key}: ${name}: a part never holds here: ${reasonsOf(obstacles)}`;
    const hint = 'the other parts joined by | decide';
    return { level: 'info', code: 'EVICTD_LINT_POLICY_BRANCH', message, hint, key, test: placeOf(condition, obstacles) };
  });
}

function reasonsOf(obstacles: readonly Obstacle[]): string {
  return [...new Set(obstacles.map(({ why }) => why))].join(', and ');
}

/** The index of the test that has the first obstacle. */
function placeOf(condition: Condition, [first]: readonly Obstacle[]): number {
  return testsOf(condition).findIndex((test) => test === first?.test);
}
