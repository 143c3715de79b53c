import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import type { MachineFacts } from './machine.js';

/** Where evictd does not run a program: it is missing, not executable, or others can change it. */
export const PROGRAM_HINT = 'install an executable file that only root can change, in directories that only root can change';

/** Hooks whose program evictd will not run. */
export const hooksRule: LintRule = {
  codes: ['EVICTD_LINT_HOOK'],
  find: ({ hooks: { preEvict, postEvict } }: LintSubject, machine: MachineFacts | undefined): Finding[] =>
    Object.entries({ preEvict, postEvict }).flatMap(([name, hook]): Finding[] => {
      const problem = machine?.programs?.get(hook?.argv[0] ?? '');
      if (hook === undefined || problem === undefined) return [];
      return [
        {
          level: 'warn',
          code: 'EVICTD_LINT_HOOK',
          message: `hooks.${name} is skipped, and evictions go on without it: ${problem}`,
          hint: PROGRAM_HINT,
          key: `hooks.${name}`,
        },
      ];
    }),
};
