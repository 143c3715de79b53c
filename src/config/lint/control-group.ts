import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import type { MachineFacts } from './machine.js';

/** The group of the control socket does not exist. */
export const controlGroupRule: LintRule = {
  codes: ['EVICTD_LINT_CONTROL_GROUP'],
  find: (_subject: LintSubject, machine: MachineFacts | undefined): Finding[] =>
    machine?.controlGroup === undefined
      ? []
      : [{ level: 'warn', code: 'EVICTD_LINT_CONTROL_GROUP', key: 'controlSocket.group', ...machine.controlGroup }],
};
