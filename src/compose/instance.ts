import { join } from 'node:path';
import { selectHost, type InstanceLock } from '../host/select.js';
import type { NodeIdentity } from '../monitor/ports.js';
import { native } from '../native/index.js';

/** What others ask a running evictd for otherwise than by a signal. */
export interface AskedOtherwise {
  readonly reload: () => void;
  readonly stop: () => void;
}

/**
 * Holds the lock of a node, and hears what its holder is asked for.
 *
 * @throws UnavailableError where another holds it; HostError where the runtime directory cannot be used
 */
export function holdInstance(runtimeDirectory: string, node: NodeIdentity, dryRun: boolean, asked: AskedOtherwise): InstanceLock {
  const host = selectHost();
  const lock = host.lockInstance(runtimeDirectory, node, native, dryRun);
  const requests = host.listenToRequests(join(runtimeDirectory, `${lock.instance}.lock`), asked);
  return {
    ...lock,
    close: () => {
      requests.close();
      lock.close();
    },
  };
}
