import { constants } from 'node:os';
import type { Binding } from '../../../native/binding.js';
import type { ReloadTarget } from '../../reload-requests.js';

/** Sends SIGHUP by pidfd, after it is certain that the pid is still evictd: SIGHUP would end another process. */
export function askToReload(native: Pick<Binding, 'Pidfd'>, { pid, isCurrent: isStill }: ReloadTarget): void {
  const pidfd = new native.Pidfd(pid);
  try {
    if (isStill()) pidfd.signal(constants.signals.SIGHUP);
  } finally {
    pidfd.close();
  }
}
