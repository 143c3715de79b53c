import type { Finding, LintRule, LintSubject } from './lint-rule.js';

/** Budgets that permit nothing, and limits that never apply. */
export const budgetRule: LintRule = {
  codes: ['EVICTD_LINT_BUDGET_OFF', 'EVICTD_LINT_BUDGET_NONE', 'EVICTD_LINT_BUDGET_BAND'],
  find: ({ departures, evictionBudget: { max, bands }, written }: LintSubject): Finding[] => {
    if (!departures.budget) return [...written.keys()].some((key) => key.startsWith('evictionBudget.')) ? [OFF] : [];
    if (max === 0) return [NONE];
    return bands.flatMap((band, index) => {
      const limits = [max, ...bands.filter((other, at) => at !== index && isWider(other, band)).map((other) => other.max)];
      const least = Math.min(...limits);
      if (band.max < least) return [];
      const key = `evictionBudget.bands[${String(index)}]`;
      const message = `${key} has no effect: max ${String(band.max)} is not below ${String(least)}, which holds for these workloads too`;
      return [{ level: 'warn', code: 'EVICTD_LINT_BUDGET_BAND', message, hint: 'lower its max, or remove it', key }];
    });
  },
};

/** Whether every workload of a band is in the other one, too. */
function isWider(other: { readonly minPriority: number }, { minPriority }: { readonly minPriority: number }): boolean {
  return other.minPriority <= minPriority;
}

const OFF: Finding = {
  level: 'warn',
  code: 'EVICTD_LINT_BUDGET_OFF',
  message: 'evictionBudget has no effect: the departure budget is switched off',
  hint: 'remove one of them',
  key: 'evictionBudget',
};

const NONE: Finding = {
  level: 'error',
  code: 'EVICTD_LINT_BUDGET_NONE',
  message: 'evictionBudget.max is 0: evictd evicts nothing',
  hint: 'raise it; departures: {budget: false} removes the limit',
  key: 'evictionBudget.max',
};
