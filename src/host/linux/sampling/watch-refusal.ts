import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { errnoName, errnoText } from '../../../errors.js';
import type { WatchStatus } from '../../../native/binding.js';
import type { WatchFailure } from './watch-failure.js';

/** Why the kernel refused a watch. */
export function refusal(error: unknown): WatchFailure {
  const reason = error instanceof Error ? error.message : String(error);
  switch (errnoName(error)) {
    case 'EACCES':
    case 'EPERM':
      return { reason, hint: 'run evictd as root, or give it write access to this file' };
    case 'EROFS':
      return { reason, hint: 'mount the cgroup filesystem writable: in a container it is read-only by default' };
    case 'EMFILE':
    case 'ENFILE':
      return { reason, hint: 'raise the limit of open files (LimitNOFILE)' };
    default:
      return { reason, hint: undefined };
  }
}

const { ENODEV, ENOENT } = constants.errno;

/** Why a live watch has ended. */
export function ending({ target, errno }: Pick<WatchStatus, 'target' | 'errno'>): WatchFailure {
  if (errno === 0 || errno === ENODEV || errno === ENOENT) return { reason: 'the watched file was removed', hint: undefined };
  return refusal(Object.assign(new Error(`${target}: ${errnoText(errno)}`), { code: getSystemErrorName(-errno), syscall: 'read' }));
}
