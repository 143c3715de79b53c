import type { Condition } from '../../../core/policy/condition.js';
import { testsOf } from '../../../core/policy/condition-needs.js';
import type { Finding, LintRule } from '../lint-rule.js';
import type { PolicyFacts } from '../machine.js';
import { deadBranches, obstaclesTo, type Obstacle } from './reachable-truth.js';

/** Policies that never act here, and branches of `|` that never hold: a value that they need does not exist. */
export const policyConditionsRule: LintRule = {
  codes: ['EVICTD_LINT_POLICY_NEVER', 'EVICTD_LINT_POLICY_BRANCH'],
  find: ({ policies }, machine) => {
    const facts = machine?.policies;
    if (facts === undefined) return [];
    return policies.flatMap(({ name, when, unless }, index): readonly Finding[] => {
      const key = (part: 'when' | 'unless'): string => `policies[${String(index)}].${part}`;
      const never = neverActs(name, key('when'), when, obstaclesTo(when, true, facts), 'remove the policy, or the test');
      if (never.length > 0) return never;
      const branches = branchesOf(name, key('when'), when, facts);
      if (unless === undefined) return branches;
      const hint = 'remove the test: a policy acts only where unless is known to be false';
      const always = neverActs(name, key('unless'), unless, obstaclesTo(unless, false, facts), hint);
      return always.length > 0 ? always : [...branches, ...branchesOf(name, key('unless'), unless, facts)];
    });
  },
};

function neverActs(name: string, key: string, condition: Condition, obstacles: readonly Obstacle[], hint: string): readonly Finding[] {
  if (obstacles.length === 0) return [];
  const message = `${key}: ${name} never acts here: ${reasonsOf(obstacles)}`;
  return [{ level: 'warn', code: 'EVICTD_LINT_POLICY_NEVER', message, hint, key, test: placeOf(condition, obstacles) }];
}

function branchesOf(name: string, key: string, condition: Condition, facts: PolicyFacts): readonly Finding[] {
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
