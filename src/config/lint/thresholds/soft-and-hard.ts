import { isListed, thresholdKind, type ThresholdValue } from '../../../core/threshold/threshold.js';
import type { LintRule, Finding, LintSubject } from '../lint-rule.js';
import { limitIn, limitText, thresholdText } from '../limit.js';
import type { MachineFacts } from '../machine.js';

/** Soft thresholds that are not above the hard threshold of their signal. */
export function lintSoftAndHard(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const thresholds = subject.thresholds.filter((threshold) => !isListed(threshold));
  const hard = thresholds.filter((threshold) => thresholdKind(threshold) === 'hard');
  const soft = thresholds.filter((threshold) => thresholdKind(threshold) === 'soft');
  return soft.flatMap((one): Finding[] => {
    const { signal } = one;
    const capacity = machine?.capacities.get(signal);
    const above = hard.find((other) => other.signal === signal && isAbove(one.value, other.value, capacity) === false);
    if (above === undefined) return [];
    return [
      {
        level: 'warn',
        code: 'EVICTD_LINT_SOFT_NOT_ABOVE_HARD',
        message:
          `${thresholdText(one, capacity)} is not above hard ${limitText(signal, above.value, capacity)}: ` +
          `${firstMet(one.value, above.value, capacity)}, so the soft one has no grace period`,
        hint: 'raise the soft threshold above the hard one, or remove it',
        key: `evictionSoft.${signal}`,
      },
    ];
  });
}

/** undefined: an amount and a percentage, and the capacity is unknown. */
function isAbove(soft: ThresholdValue, hard: ThresholdValue, capacity: bigint | undefined): boolean | undefined {
  const [a, b] = [limitIn(soft, capacity), limitIn(hard, capacity)];
  if (a !== undefined && b !== undefined) return a > b;
  return soft.kind === 'percentage' && hard.kind === 'percentage' ? soft.fraction > hard.fraction : undefined;
}

function firstMet(soft: ThresholdValue, hard: ThresholdValue, capacity: bigint | undefined): string {
  return isAbove(hard, soft, capacity) === true ? 'the hard threshold is met first' : 'both are met at once';
}

export const softAndHardRule: LintRule = {
  codes: ['EVICTD_LINT_SOFT_NOT_ABOVE_HARD'],
  find: lintSoftAndHard,
};
