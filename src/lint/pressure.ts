import { isPressure, pressureParts } from '../core/signal.js';
import { isListed, isResourceThreshold, operandsOf, thresholdKind, whenText, type Threshold } from '../core/threshold.js';
import type { Finding } from './finding.js';
import { thresholdKey } from './limit.js';
import type { MachineFacts } from './machine.js';
import type { LintSubject } from './subject.js';

/** Entries of the list `thresholds` whose pressure says something else than it looks like. */
export function lintPressure(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  return subject.thresholds.filter(isListed).flatMap((threshold): Finding[] => {
    const found = [alone(threshold), neverMet(threshold, machine), notItsOwn(threshold, machine)];
    return found.flatMap((each) => (each === undefined ? [] : [{ key: thresholdKey(threshold, subject), ...each }]));
  });
}

type Found = Omit<Finding, 'key'>;

function alone(threshold: Threshold): Found | undefined {
  if (!isResourceThreshold(threshold) || !operandsOf(threshold).every(({ signal }) => isPressure(signal))) return undefined;
  return {
    level: 'warn',
    code: 'EVICTD_LINT_PRESSURE_ALONE',
    message: `${whenText(threshold)} (${thresholdKind(threshold)}) evicts on pressure alone: tasks also wait where a cgroup reaches a limit of its own, or a disk is slow, and whoever uses most goes for it`,
    hint: 'join an amount: memory.pressure.full>40% & memory.available<10%',
  };
}

/** The machine as a whole is never without a task that runs while others wait for the processor (Documentation/accounting/psi.rst). */
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

function notItsOwn(threshold: Threshold, machine: MachineFacts | undefined): Found | undefined {
  if (machine?.pressureOf !== 'machine instead of a v1 cgroup') return undefined;
  const pressure = operandsOf(threshold).find(({ signal }) => isPressure(signal));
  if (pressure === undefined) return undefined;
  return {
    level: 'info',
    code: 'EVICTD_LINT_PRESSURE_OF_MACHINE',
    message: `${whenText(threshold)}: ${pressure.signal} is that of the whole machine: a v1 cgroup has none of its own`,
    hint: 'cgroup v2 measures pressure per cgroup',
  };
}
