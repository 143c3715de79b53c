import { lintAllocatable } from './allocatable.js';
import { lintAllocation } from './allocation.js';
import { lintEntries } from './entries.js';
import { lintEvictable } from './evictable.js';
import type { Finding } from './finding.js';
import type { MachineFacts } from './machine.js';
import { lintImages } from './images.js';
import { lintPressure } from './pressure.js';
import { lintPeriods } from './periods.js';
import { lintReach } from './reach.js';
import { lintReadings } from './readings.js';
import { lintRules } from './rules.js';
import { lintSoftAndHard } from './soft-and-hard.js';
import type { LintSubject } from './subject.js';

/**
 * Everything about a configuration that can be used and will not do what it looks like (docs/lint.md).
 *
 * @param machine  undefined: only what is so on every machine
 */
export function lintPolicy(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  return [
    ...lintReadings(subject, machine),
    ...lintImages(subject, machine),
    ...lintSoftAndHard(subject, machine),
    ...lintReach(subject, machine),
    ...lintAllocation(subject, machine),
    ...lintEntries(subject),
    ...lintPressure(subject, machine),
    ...lintPeriods(subject),
    ...lintEvictable(subject, machine),
    ...lintAllocatable(subject),
    ...lintRules(subject, machine),
  ];
}
