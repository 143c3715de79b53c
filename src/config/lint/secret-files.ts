import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import type { FileProblem, MachineFacts } from './machine.js';

/** The token of the status page and the API, and the key of the webhook: a file that cannot be used, or that is not secret. */
export const secretFilesRule: LintRule = {
  codes: ['EVICTD_LINT_TOKEN_FILE', 'EVICTD_LINT_SECRET_FILE'],
  find: (_subject: LintSubject, machine: MachineFacts | undefined): Finding[] => [
    ...found('EVICTD_LINT_TOKEN_FILE', 'metrics.tokenFile', machine?.tokenFile),
    ...found('EVICTD_LINT_SECRET_FILE', 'notifications.webhook', machine?.secretFile),
  ],
};

function found(code: string, key: string, problem: FileProblem | undefined): Finding[] {
  return problem === undefined ? [] : [{ level: 'warn', code, key, ...problem }];
}
