import { isPressure, pressureParts } from '../../../core/signal/signal.js';
import { isListed, isResourceThreshold, operandsOf, thresholdKind, whenText, type Threshold } from '../../../core/threshold/threshold.js';
import type { LintRule, Finding, LintSubject } from '../lint-rule.js';
import { thresholdKey } from '../limit.js';
import type { MachineFacts } from '../machine.js';

/** Entries of the list `thresholds` with misleading pressure signals. */
function lintPressure(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  return subject.thresholds.filter(isListed).flatMap((threshold): Finding[] => {
    const found = [alone(threshold), neverMet(threshold, machine), ofMachine(threshold, machine)];
    return found.flatMap((each) => (each === undefined ? [] : [{ key: thresholdKey(threshold, subject), ...each }]));
  });
}

type Found = Omit<Finding, 'key'>;

function alone(threshold: Threshold): Found | undefined {
  if (!isResourceThreshold(threshold) || !operandsOf(threshold).every(({ signal }) => isPressure(signal))) return undefined;
  return {
    level: 'warn',
    code: 'EVICTD_LINT_PRESSURE_ALONE',
    message: `${whenText(threshold)} (${thresholdKind(threshold)}) evicts on pressure alone: tasks also stall when a cgroup reaches its own limit or a disk is slow, and then evictd evicts the largest workload`,
    hint: 'add an amount: memory.pressure.full>40% & memory.available<10%',
  };
}

/** CPU pressure `full` of a machine is always 0: some task runs while others wait (Documentation/accounting/psi.rst). */
function neverMet(threshold: Threshold, machine: MachineFacts | undefined): Found | undefined {
  if (machine?.pressureOf === undefined || machine.pressureOf === 'cgroup') return undefined;
  const full = operandsOf(threshold).find(({ signal }) => {
    if (!isPressure(signal)) return false;
    const { resource, kind } = pressureParts(signal);
    return resource === 'cpu' && kind === 'full';
  });
  if (full === undefined) return undefined;
  return {
    level: 'warn',
    code: 'EVICTD_LINT_UNREACHABLE',
    message: `${whenText(threshold)} is never met: ${full.signal} of a whole machine is always 0`,
    hint: full.signal.replace('.full', '.some'),
  };
}

function ofMachine(threshold: Threshold, machine: MachineFacts | undefined): Found | undefined {
  if (machine?.pressureOf !== 'machine instead of a v1 cgroup') return undefined;
  const pressure = operandsOf(threshold).find(({ signal }) => isPressure(signal));
  if (pressure === undefined) return undefined;
  return {
    level: 'info',
    code: 'EVICTD_LINT_PRESSURE_OF_MACHINE',
    message: `${whenText(threshold)}: ${pressure.signal} measures the whole machine: a v1 cgroup has no pressure of its own`,
    hint: 'boot with cgroup v2, which measures pressure per cgroup',
  };
}

export const pressureRule: LintRule = {
  codes: ['EVICTD_LINT_PRESSURE_ALONE', 'EVICTD_LINT_UNREACHABLE', 'EVICTD_LINT_PRESSURE_OF_MACHINE'],
  find: lintPressure,
};
