import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import type { MachineFacts } from './machine.js';

/** The token of the status page and the API: a file that cannot be used, or that is no secret. */
export const tokenFileRule: LintRule = {
  codes: ['EVICTD_LINT_TOKEN_FILE'],
  find: (_subject: LintSubject, machine: MachineFacts | undefined): Finding[] =>
    machine?.tokenFile === undefined
      ? []
      : [{ level: 'warn', code: 'EVICTD_LINT_TOKEN_FILE', key: 'metrics.tokenFile', ...machine.tokenFile }],
};
