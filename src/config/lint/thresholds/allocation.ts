import { amountOfBytes } from '../../../core/quantity/amount.js';
import { formatDuration } from '../../../core/quantity/duration.js';
import { SIGNAL_FACTS } from '../../../core/signal/signal.js';
import { isListed, thresholdKind, type Threshold } from '../../../core/threshold/threshold.js';
import type { LintRule } from '../lint-rule.js';
import type { Finding } from '../finding.js';
import { floorOf } from '../floor.js';
import { limitIn, thresholdKey, thresholdText } from '../limit.js';
import type { MachineFacts } from '../machine.js';
import type { LintSubject } from '../subject.js';

/**
 * The least that one core allocates: 1.5 to 2.5 GB/s were measured with 4 KiB pages. One leaking thread is enough; huge
 * pages are faster.
 */
const BYTES_PER_SECOND = 1_500_000_000n;
const NS_PER_SECOND = 1_000_000_000n;

/**
 * Memory thresholds that a fast allocation passes between two polls, or during a grace period without a hard threshold.
 */
export function lintAllocation(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const memory = subject.thresholds.filter((threshold) => SIGNAL_FACTS[threshold.signal].resource === 'memory' && !isListed(threshold));
  return memory.flatMap((threshold): Finding[] => {
    const limit = limitIn(threshold.value, machine?.capacities.get(threshold.signal));
    const floor = floorOf(threshold.signal, machine);
    if (limit === undefined || limit <= floor.amount) return []; // unknown, or never met
    const margin = limit - floor.amount;
    const found = thresholdKind(threshold) === 'hard' ? outrun(threshold, margin, subject, machine) : unbacked(threshold, margin, memory);
    return found === undefined ? [] : [{ level: 'warn', key: thresholdKey(threshold, subject), ...found }];
  });
}

type Found = Pick<Finding, 'code' | 'message' | 'hint'>;

function outrun(
  threshold: Threshold,
  margin: bigint,
  { monitoringIntervalNs }: LintSubject,
  machine: MachineFacts | undefined,
): Found | undefined {
  const why = machine?.polled.get(threshold.signal);
  const allocated = allocatedIn(monitoringIntervalNs);
  if (why === undefined || allocated < margin) return undefined;
  const interval = formatDuration(monitoringIntervalNs);
  return {
    code: 'EVICTD_LINT_OUTRUN',
    message:
      `${thresholdText(threshold, machine?.capacities.get(threshold.signal))} is only polled every ${interval}, because neither a notifier nor the sampler ` +
      `can be armed (${why}): one core allocates ${amountOfBytes(allocated)} in that time (1.5 GB/s), and ${amountOfBytes(margin)} are left below the threshold`,
    hint: `see evictd check for the reason; or shorten monitoringInterval to ${formatDuration(fits(margin))} or raise the threshold`,
  };
}

function unbacked(threshold: Threshold, margin: bigint, memory: readonly Threshold[]): Found | undefined {
  const backed = memory.some((other) => other.signal === threshold.signal && thresholdKind(other) === 'hard');
  const allocated = allocatedIn(threshold.gracePeriodNs);
  if (backed || allocated < margin) return undefined;
  return {
    code: 'EVICTD_LINT_SOFT_ALONE',
    message:
      `${thresholdText(threshold, undefined)} has no hard threshold behind it: one core allocates ${amountOfBytes(allocated)} in its grace period of ` +
      `${formatDuration(threshold.gracePeriodNs)} (1.5 GB/s), and ${amountOfBytes(margin)} are left below the threshold`,
    hint: `set evictionHard.${threshold.signal}`,
  };
}

function allocatedIn(ns: bigint): bigint {
  return (BYTES_PER_SECOND * ns) / NS_PER_SECOND;
}

/**
 * The longest interval, in steps of 10 ms, in which less than `margin` is allocated; at least evictd's shortest
 * interval.
 */
function fits(margin: bigint): bigint {
  const [shortest, step] = [100_000_000n, 10_000_000n];
  const ns = (((margin - 1n) * NS_PER_SECOND) / BYTES_PER_SECOND / step) * step;
  return ns < shortest ? shortest : ns;
}

export const allocationRule: LintRule = {
  codes: ['EVICTD_LINT_OUTRUN', 'EVICTD_LINT_SOFT_ALONE'],
  find: lintAllocation,
};
