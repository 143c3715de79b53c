import { formatDuration } from '../../core/quantity/duration.js';
import { SIGNAL_FACTS } from '../../core/signal/signal.js';
import { isListed, thresholdKind, valueText } from '../../core/threshold/threshold.js';
import type { LintRule, Finding, LintSubject } from './lint-rule.js';

/** Periods that other settings shorten or lengthen. */
export function lintPeriods(subject: LintSubject): Finding[] {
  return [...gracePeriods(subject), ...transitionPeriod(subject), ...terminationGraces(subject)];
}

/** evictd reads disks once per interval; memory and process ids also at the end of a grace period. */
function gracePeriods({ thresholds, monitoringIntervalNs }: LintSubject): Finding[] {
  const disks = thresholds.filter((threshold) => SIGNAL_FACTS[threshold.signal].condition === 'DiskPressure' && !isListed(threshold));
  return disks
    .filter((threshold) => thresholdKind(threshold) === 'soft' && threshold.gracePeriodNs < monitoringIntervalNs)
    .map(({ signal, value, gracePeriodNs }): Finding => {
      const interval = formatDuration(monitoringIntervalNs);
      return {
        level: 'info',
        code: 'EVICTD_LINT_GRACE_PERIOD',
        message: `${signal}<${valueText(value)}: a grace period of ${formatDuration(gracePeriodNs)} lasts until the next poll, a monitoring interval of ${interval}`,
        hint: 'lengthen the grace period, or shorten monitoringInterval',
        key: `evictionSoftGracePeriod.${signal}`,
      };
    });
}

function transitionPeriod({ thresholds, pressureTransitionPeriodNs, monitoringIntervalNs }: LintSubject): Finding[] {
  if (thresholds.length === 0 || pressureTransitionPeriodNs >= monitoringIntervalNs) return [];
  const [period, interval] = [formatDuration(pressureTransitionPeriodNs), formatDuration(monitoringIntervalNs)];
  const effect =
    pressureTransitionPeriodNs <= 0n
      ? 'is not above 0: no node condition is ever true, as on a kubelet'
      : `is shorter than the monitoring interval of ${interval}: a condition may change with every poll`;
  return [
    {
      level: 'info',
      code: 'EVICTD_LINT_TRANSITION_PERIOD',
      message: `evictionPressureTransitionPeriod ${period} ${effect}`,
      hint: 'set it to several intervals',
      key: 'evictionPressureTransitionPeriod',
    },
  ];
}

/** Only soft evictions have a termination grace period. */
function terminationGraces({ thresholds, rules, maxPodGracePeriodNs }: LintSubject): Finding[] {
  if (!thresholds.some((threshold) => thresholdKind(threshold) === 'soft')) return [];
  return rules.flatMap(({ terminationGracePeriodNs: configured }, index): Finding[] => {
    if (configured === undefined || maxPodGracePeriodNs < 0n || configured <= maxPodGracePeriodNs) return [];
    const key = `rules[${String(index)}].terminationGracePeriodSeconds`;
    return [
      {
        level: 'warn',
        code: 'EVICTD_LINT_TERMINATION_GRACE',
        message: `${key}: ${formatDuration(configured)} is limited to ${formatDuration(maxPodGracePeriodNs)} by evictionMaxPodGracePeriod`,
        hint: 'raise evictionMaxPodGracePeriod',
        key,
      },
    ];
  });
}

export const periodsRule: LintRule = {
  codes: ['EVICTD_LINT_GRACE_PERIOD', 'EVICTD_LINT_TRANSITION_PERIOD', 'EVICTD_LINT_TERMINATION_GRACE'],
  find: lintPeriods,
};
