import { formatDuration } from '../core/duration.js';
import { SIGNAL_FACTS } from '../core/signal.js';
import { isListed, thresholdKind, valueText } from '../core/threshold.js';
import type { Finding } from './finding.js';
import type { LintSubject } from './subject.js';

/** Periods that others make shorter or longer than they were written. */
export function lintPeriods(subject: LintSubject): Finding[] {
  return [...gracePeriods(subject), ...transitionPeriod(subject), ...terminationGraces(subject)];
}

/** Disks are looked at once an interval; memory and process ids again when a grace period ends. */
function gracePeriods({ thresholds, monitoringIntervalNs }: LintSubject): Finding[] {
  const disks = thresholds.filter((threshold) => SIGNAL_FACTS[threshold.signal].condition === 'DiskPressure' && !isListed(threshold));
  return disks
    .filter((threshold) => thresholdKind(threshold) === 'soft' && threshold.gracePeriodNs < monitoringIntervalNs)
    .map(({ signal, value, gracePeriodNs }): Finding => {
      const interval = formatDuration(monitoringIntervalNs);
      return {
        level: 'info',
        code: 'EVICTD_LINT_GRACE_PERIOD',
        message: `${signal}<${valueText(value)}: a grace period of ${formatDuration(gracePeriodNs)} is in effect the monitoring interval of ${interval}: no sooner is it looked at again`,
        hint: 'a longer grace period, or a shorter monitoringInterval',
        key: `evictionSoftGracePeriod.${signal}`,
      };
    });
}

function transitionPeriod({ thresholds, pressureTransitionPeriodNs, monitoringIntervalNs }: LintSubject): Finding[] {
  if (thresholds.length === 0 || pressureTransitionPeriodNs >= monitoringIntervalNs) return [];
  const [period, interval] = [formatDuration(pressureTransitionPeriodNs), formatDuration(monitoringIntervalNs)];
  return [
    {
      level: 'info',
      code: 'EVICTD_LINT_TRANSITION_PERIOD',
      message: `evictionPressureTransitionPeriod ${period} is shorter than the monitoring interval of ${interval}: a condition may come and go with every look`,
      hint: 'several intervals keep a condition steady',
      key: 'evictionPressureTransitionPeriod',
    },
  ];
}

/** Only soft evictions leave a workload time to end. */
function terminationGraces({ thresholds, rules, maxPodGracePeriodNs }: LintSubject): Finding[] {
  if (!thresholds.some((threshold) => thresholdKind(threshold) === 'soft')) return [];
  return rules.flatMap(({ terminationGracePeriodNs: asked }, index): Finding[] => {
    if (asked === undefined || asked <= maxPodGracePeriodNs) return [];
    const key = `rules[${String(index)}].terminationGracePeriodSeconds`;
    return [
      {
        level: 'warn',
        code: 'EVICTD_LINT_TERMINATION_GRACE',
        message: `${key}: ${formatDuration(asked)} is cut to the ${formatDuration(maxPodGracePeriodNs)} of evictionMaxPodGracePeriod`,
        hint: 'raise evictionMaxPodGracePeriod',
        key,
      },
    ];
  });
}
