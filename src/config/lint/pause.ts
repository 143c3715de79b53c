import { formatDuration } from '../../core/quantity/duration.js';
import type { Finding, LintRule, LintSubject } from './lint-rule.js';

const LONG_NS = 24n * 3_600_000_000_000n;

/** A pause that may last so long that it is forgotten. */
export const pauseRule: LintRule = {
  codes: ['EVICTD_LINT_PAUSE_LONG'],
  find: ({ maxPauseNs }: LintSubject): Finding[] => {
    if (maxPauseNs <= LONG_NS) return [];
    return [
      {
        level: 'warn',
        code: 'EVICTD_LINT_PAUSE_LONG',
        message: `pause.max ${formatDuration(maxPauseNs)}: for that long a forgotten pause leaves memory to the kernel's OOM killer`,
        hint: 'lower it to 24h or less; an operator can pause again',
        key: 'pause.max',
      },
    ];
  },
};
