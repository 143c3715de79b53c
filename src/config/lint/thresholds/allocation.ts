import { amountOfBytes } from '../../../core/quantity/amount.js';
import { formatDuration, NS_PER_SECOND } from '../../../core/quantity/duration.js';
import { SIGNAL_FACTS } from '../../../core/signal/signal.js';
import { isListed, thresholdKind, type Threshold } from '../../../core/threshold/threshold.js';
import type { LintRule, Finding, LintSubject } from '../lint-rule.js';
import { floorOf, limitIn, thresholdKey, thresholdText } from '../limit.js';
import type { MachineFacts } from '../machine.js';
import { isBelow, normalCgroupPath } from '../../../core/workload/cgroup.js';
import { slicePath } from '../../../core/systemd/unit.js';
import { cgroupSelection, type WorkloadSourceSpec } from '../../../workloads/kinds/source-spec.js';

/**
 * The least that one core allocates: 1.5 to 2.5 GB/s were measured with 4 KiB pages. One leaking thread is enough; huge
 * pages are faster.
 */
const BYTES_PER_SECOND = 1_500_000_000n;

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
    return found === undefined ? [] : [{ level: 'warn', key: thresholdKey(threshold, subject), signal: threshold.signal, ...found }];
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

/**
 * Sources outside allocatable.cgroup: evictd does not evict their workloads for allocatableMemory.available, because
 * that would not help.
 */
export function lintAllocatable({ thresholds, workloads, allocatable }: LintSubject): Finding[] {
  if (allocatable === undefined || !thresholds.some(({ signal }) => signal === 'allocatableMemory.available')) return [];
  const cgroup = normalCgroupPath(allocatable.cgroup);
  return workloads.flatMap((source, index): Finding[] => {
    const outside = placesOf(source).filter(({ path }) => path !== cgroup && !isBelow(path, cgroup));
    return outside.map(({ name, path }): Finding => {
      const some = isBelow(cgroup, path) ? 'some workloads' : 'the workloads';
      return {
        level: 'warn',
        code: 'EVICTD_LINT_OUTSIDE_ALLOCATABLE',
        message: `${some} of ${name} are outside allocatable.cgroup (${cgroup}): evictd does not evict them for allocatableMemory.available`,
        hint: 'name a cgroup that holds all sources, or add a threshold of memory.available for the others',
        key: `workloads[${String(index)}]`,
      };
    });
  });
}

function placesOf(source: WorkloadSourceSpec): readonly { readonly name: string; readonly path: string }[] {
  const { parents = [], slices = [] } = cgroupSelection(source) ?? {}; // where pods and named units are is unknown here
  return [...parents.map((path) => ({ name: path, path })), ...slices.map((name) => ({ name, path: slicePath(name) }))];
}

export const allocatableRule: LintRule = {
  codes: ['EVICTD_LINT_OUTSIDE_ALLOCATABLE'],
  find: lintAllocatable,
};
