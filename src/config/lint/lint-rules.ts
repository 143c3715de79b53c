import { allocatableRule, allocationRule } from './thresholds/allocation.js';
import { budgetRule } from './budget.js';
import { controlGroupRule } from './control-group.js';
import { disruptionBudgetsRule } from './disruption-budgets.js';
import { entriesRule } from './entries.js';
import { evictableRule } from './workloads/evictable.js';
import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import { memoryNodesRule } from './workloads/memory-nodes.js';
import { hooksOfOrdersRule, hooksRule } from './hooks.js';
import { kubeletPodsRule } from './workloads/kubelet-pods.js';
import { namesOfUsersRule } from './workloads/names-of-users.js';
import { imagesRule, rulesRule } from './workloads/rules.js';
import type { MachineFacts } from './machine.js';
import { pauseRule } from './pause.js';
import { policyConditionsRule } from './policies/policy-conditions.js';
import { policyScopesRule, policyStepsRule } from './policies/policy-steps.js';
import { periodsRule } from './periods.js';
import { kernelFirstRule } from './thresholds/kernel-first.js';
import { polledRule } from './thresholds/polled.js';
import { pressureRule } from './thresholds/pressure.js';
import { reachRule } from './thresholds/reach.js';
import { readingsRule } from './thresholds/readings.js';
import { softAndHardRule } from './thresholds/soft-and-hard.js';
import { secretFilesRule } from './secret-files.js';
import { taintsRule } from './taints.js';
import { zramRule } from './thresholds/zram.js';

/** The rules in the order of the report. */
export const LINT_RULES: readonly LintRule[] = [
  readingsRule,
  imagesRule,
  softAndHardRule,
  reachRule,
  kernelFirstRule,
  allocationRule,
  polledRule,
  zramRule,
  entriesRule,
  pressureRule,
  periodsRule,
  budgetRule,
  pauseRule,
  disruptionBudgetsRule,
  evictableRule,
  kubeletPodsRule,
  allocatableRule,
  rulesRule,
  namesOfUsersRule,
  taintsRule,
  policyConditionsRule,
  policyScopesRule,
  policyStepsRule,
  memoryNodesRule,
  hooksRule,
  hooksOfOrdersRule,
  secretFilesRule,
  controlGroupRule,
];

/**
 * What a valid configuration does not do although it seems to (docs/lint.md).
 *
 * @param machine  undefined: only findings that hold on every machine
 */
export function lintPolicy(subject: LintSubject, machine: MachineFacts | undefined, rules = LINT_RULES): Finding[] {
  return rules.flatMap(({ find }) => find(subject, machine));
}
