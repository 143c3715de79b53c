import type { ServiceManager } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import { attempt } from '../../../errors.js';

/**
 * undefined: no service manager wants notifications, or its address cannot be used. Removes its variables from `env`:
 * they are not for child processes.
 */
export function openServiceManager(native: Binding, env: NodeJS.ProcessEnv): ServiceManager | undefined {
  const { NOTIFY_SOCKET: address, WATCHDOG_USEC: watchdogUs, WATCHDOG_PID: watchdogPid } = env;
  delete env.NOTIFY_SOCKET;
  delete env.WATCHDOG_USEC;
  delete env.WATCHDOG_PID;
  if (!address) return undefined;
  const socket = attempt(() => new native.NotifySocket(address));
  if (socket === undefined) return undefined; // a kind that evictd does not support (vsock)
  const isMeant = watchdogPid === undefined || Number(watchdogPid) === process.pid;
  return {
    watchdogMs: isMeant ? watchdogMs(watchdogUs) : undefined,
    notify: (...lines) => socket.notify(lines.join('\n')) === 0,
    // The end of the process reports it.
    ended: () => undefined,
    close: () => {
      socket.close();
    },
  };
}

function watchdogMs(text = ''): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) / 1_000 : undefined;
}
