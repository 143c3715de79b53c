import { formatDuration } from '../../core/quantity/duration.js';
import { hookCommands } from '../../core/hook/hook.js';
import { orderedThresholds } from '../../core/threshold/ordered-limit.js';
import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import type { MachineFacts } from './machine.js';

/** Where evictd does not run a program: it is missing, not executable, or others can change it. */
export const PROGRAM_HINT = 'install an executable file that only root can change, in directories that only root can change';

/** Hooks whose program evictd will not run. */
export const hooksRule: LintRule = {
  codes: ['EVICTD_LINT_HOOK'],
  find: ({ hooks, policies }: LintSubject, machine: MachineFacts | undefined): Finding[] =>
    hookCommands({ hooks, policies }).flatMap(({ key, argv }): Finding[] => {
      const problem = machine?.programs?.get(argv[0] ?? '');
      if (problem === undefined) return [];
      const message = `${key} is skipped, and evictions go on without it: ${problem}`;
      return [{ level: 'warn', code: 'EVICTD_LINT_HOOK', message, hint: PROGRAM_HINT, key }];
    }),
};

/** Hooks before an eviction that a standing order may make without them. */
export const hooksOfOrdersRule: LintRule = {
  codes: ['EVICTD_LINT_HOOK_ORDER'],
  find: ({ hooks, thresholds, standingOrderAfterNs: afterNs }: LintSubject): Finding[] => {
    if (afterNs === 0n || orderedThresholds(thresholds).length === 0) return [];
    return (['preEvict', 'prekill'] as const).flatMap((name): Finding[] =>
      hooks[name] === undefined ? [] : [{ ...OF_ORDERS, message: messageOf(name, afterNs), key: `hooks.${name}` }],
    );
  },
};

const OF_ORDERS = {
  level: 'info',
  code: 'EVICTD_LINT_HOOK_ORDER',
  hint: 'standingOrder.after: 0s makes every eviction wait for the main thread and the hook, also while that thread stalls',
} as const;

function messageOf(name: string, afterNs: bigint): string {
  const after = `${formatDuration(afterNs)} after a crossing of a hard threshold of memory.available`;
  return `hooks.${name} does not run where the main thread has not decided ${after}: a standing order evicts then`;
}
