import { filesystemOf } from '../../../core/signal/signal.js';
import { operandsOf } from '../../../core/threshold/threshold.js';
import type { LintRule } from '../lint-rule.js';
import type { Finding } from '../finding.js';
import type { MachineFacts } from '../machine.js';
import type { LintSubject } from '../subject.js';

/** An imagefs that the container runtime reports, that is not configured and has no threshold. */
export function lintImages({ thresholds, filesystems }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const isApart = machine?.layout === 'imagefs' || machine?.layout === 'split';
  if (!isApart || filesystems.imagefs !== undefined || filesystems.containerfs !== undefined) return [];
  if (thresholds.flatMap(operandsOf).some(({ signal }) => filesystemOf(signal) === 'imagefs')) return [];
  return [
    {
      level: 'warn',
      code: 'EVICTD_IMAGEFS_UNWATCHED',
      message: 'the images of the container runtime are not on nodefs, and imagefs has no threshold: evictd does nothing when it is full',
      hint: 'set imagefs.available and imagefs.inodesFree, or set filesystems.imagefs, which adds their defaults',
      key: 'evictionHard',
    },
  ];
}

export const imagesRule: LintRule = {
  codes: ['EVICTD_IMAGEFS_UNWATCHED'],
  find: lintImages,
};
