import { filesystemOf } from '../core/signal.js';
import { operandsOf } from '../core/threshold.js';
import type { Finding } from './finding.js';
import type { MachineFacts } from './machine.js';
import type { LintSubject } from './subject.js';

/** Images on a filesystem of their own that only a container runtime has told of: nobody has had to think of it. */
export function lintImages({ thresholds, filesystems }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const isApart = machine?.layout === 'imagefs' || machine?.layout === 'split';
  if (!isApart || filesystems.imagefs !== undefined || filesystems.containerfs !== undefined) return [];
  if (thresholds.flatMap(operandsOf).some(({ signal }) => filesystemOf(signal) === 'imagefs')) return [];
  return [
    {
      level: 'warn',
      code: 'EVICTD_IMAGEFS_UNWATCHED',
      message:
        'the container runtime has its images on a filesystem that is not nodefs, and no threshold of imagefs is set: nothing is done when it is full',
      hint: 'set imagefs.available and imagefs.inodesFree, or name filesystems.imagefs, which brings their defaults with it',
      key: 'evictionHard',
    },
  ];
}
