import type { Finding, LintRule } from '../lint-rule.js';
import { whyNot } from './reachable-truth.js';

/** Policies that never act here: a value that they need does not exist. */
export const policyConditionsRule: LintRule = {
  codes: ['EVICTD_LINT_POLICY_NEVER'],
  find: ({ policies }, machine) => {
    const facts = machine?.policies;
    if (facts === undefined) return [];
    return policies.flatMap(({ name, when, unless }, index): Finding[] => {
      const never = (part: 'when' | 'unless', message: string, hint: string): Finding => {
        const key = `policies[${String(index)}].${part}`;
        return { level: 'warn', code: 'EVICTD_LINT_POLICY_NEVER', message: `${key}: ${name} never acts here: ${message}`, hint, key };
      };
      const noWhen = whyNot(when, true, facts);
      if (noWhen !== undefined) return [never('when', noWhen, 'remove the policy, or the test')];
      const noUnless = unless && whyNot(unless, false, facts);
      const hint = 'remove the test: a policy acts only where unless is known to be false';
      return noUnless === undefined ? [] : [never('unless', noUnless, hint)];
    });
  },
};
