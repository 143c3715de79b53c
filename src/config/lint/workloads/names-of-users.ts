import { isBelow } from '../../../core/workload/cgroup.js';
import { cgroupSelection, type WorkloadSourceSpec } from '../../../workloads/kinds/source-spec.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import { globOf, overlap } from './glob-overlap.js';

/** Users choose the names of their units, and so can have a rule protect them that is meant for a unit of the machine. */
function lintNamesOfUsers({ rules, workloads }: LintSubject): Finding[] {
  return rules.flatMap(({ critical, match: { name, path } }, index): Finding[] => {
    if (critical !== true || name === undefined || path !== undefined || !workloads.some((source) => reachesUsers(source, name))) return [];
    const key = `rules[${String(index)}]`;
    return [
      {
        ...{ level: 'info', code: 'EVICTD_LINT_RULE_OF_USERS', key },
        message: `${key} (name: ${name}) also protects units of users, who choose the names of their units`,
        hint: 'add a path to match: /system.slice/** for units of the machine',
      },
    ];
  });
}

/** Whether a workload of the source with such a name may be a unit of a user's manager. */
function reachesUsers(source: WorkloadSourceSpec, name: string): boolean {
  const { parents = [], slices = [], units = [] } = cgroupSelection(source) ?? {};
  return (
    parents.some((parent) => isBelow(parent, '/user.slice')) ||
    slices.some((slice) => slice === '-.slice' || slice === 'user.slice' || slice.startsWith('user-')) ||
    units.some((unit) => overlap(globOf(unit), globOf(name)))
  );
}

export const namesOfUsersRule: LintRule = { codes: ['EVICTD_LINT_RULE_OF_USERS'], find: lintNamesOfUsers };
