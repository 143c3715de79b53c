import { budgetStatus, type DisruptionBudget } from '../../core/disruption/disruption-budget.js';
import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import type { MachineFacts, PresentWorkload } from './machine.js';
import { namesOf } from './workloads/evictable.js';

/** Disruption budgets that permit nothing, are for nothing, or make the eviction of a workload an error. */
export const disruptionBudgetsRule: LintRule = {
  codes: ['EVICTD_LINT_DISRUPTION_NONE', 'EVICTD_LINT_DISRUPTION_UNMATCHED', 'EVICTD_LINT_DISRUPTION_TWICE'],
  find: ({ disruptionBudgets }: LintSubject, machine: MachineFacts | undefined): Finding[] => {
    const present = (machine?.workloads?.present ?? []).filter(({ unevictable }) => unevictable?.kind !== 'vacant');
    return disruptionBudgets.flatMap((budget, index): Finding[] => {
      const own = present.filter(({ budgets }) => budgets?.includes(budget.name));
      const problem =
        permitsNothing(budget, own) ?? (present.length > 0 && own.length === 0 ? UNMATCHED : undefined) ?? isSecond(budget, own);
      if (problem === undefined) return [];
      const key = `disruptionBudgets[${String(index)}]`;
      return [{ level: 'warn', key, ...problem, message: `${key} (${budget.name}) ${problem.message}` }];
    });
  },
};

type Problem = Pick<Finding, 'code' | 'message' | 'hint'>;

const UNMATCHED: Problem = {
  code: 'EVICTD_LINT_DISRUPTION_UNMATCHED',
  message: 'matches no workload that exists now',
  hint: 'check the names in evictd rank; ignore this if the workloads are not running now',
};

/** A number of workloads of which any percentage below 100% leaves at least one out. */
const MANY = 100;

function permitsNothing(budget: DisruptionBudget, own: readonly PresentWorkload[]): Problem | undefined {
  const { limit, expected } = budget;
  const value = `${limit.of}: ${String(limit.value)}${limit.isPercentage ? '%' : ''}`;
  const code = 'EVICTD_LINT_DISRUPTION_NONE';
  const most = expected ?? (limit.isPercentage || limit.of === 'maxUnavailable' ? MANY : undefined);
  if (most !== undefined && budgetStatus(budget, most, most).disruptionsAllowed === 0) {
    const hint = 'lower minAvailable, or raise maxUnavailable or expected; evictd drain would wait for ever';
    return { code, message: `permits no eviction, even when all of its workloads run: ${value}`, hint };
  }
  if (own.length === 0 || budgetStatus(budget, own.length, own.length).disruptionsAllowed > 0) return undefined;
  const message = `permits no eviction of the workloads that exist now: ${value}, and there are ${String(own.length)} (${namesOf(own)})`;
  return { code, message, hint: 'start another one before evictd drain, or lower what must stay available' };
}

/** Reported once, at the later budget. */
function isSecond({ name }: DisruptionBudget, own: readonly PresentWorkload[]): Problem | undefined {
  const shared = own.filter(({ budgets = [] }) => budgets.indexOf(name) > 0);
  const [first] = shared.flatMap(({ budgets = [] }) => budgets.slice(0, 1));
  if (first === undefined) return undefined;
  return {
    code: 'EVICTD_LINT_DISRUPTION_TWICE',
    message: `matches workloads that ${first} matches, too: ${namesOf(shared)}; evictd refuses to evict them, as Kubernetes does`,
    hint: 'narrow one of the two: a workload may have one budget',
  };
}
