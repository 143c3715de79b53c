import { constants } from 'node:os';
import type { Binding } from '../../native/binding.js';
import type { Asked } from '../requests.js';

/** SIGHUP by pidfd, and only to what is evictd still when that is open: another process of the number would be ended by it. */
export function askToReload(native: Pick<Binding, 'Pidfd'>, { pid, isStill }: Asked): void {
  const pidfd = new native.Pidfd(pid);
  try {
    if (isStill()) pidfd.signal(constants.signals.SIGHUP);
  } finally {
    pidfd.close();
  }
}
