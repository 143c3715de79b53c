import { errnoName } from '../../errors.js';
import type { WatchFailure } from './watch-slot.js';

/** Why the kernel refused a watch, for people. */
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
