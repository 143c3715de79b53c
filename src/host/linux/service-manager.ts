import type { ServiceManager } from '../../monitor/ports.js';
import type { Binding, NotifySocket } from '../../native/binding.js';

/**
 * undefined: nobody asks to be told. What the environment says of it is taken out of it: it is meant for this process, not for those that it starts. An
 * address that cannot be used is the same as none.
 */
export function openServiceManager(native: Binding, env: NodeJS.ProcessEnv): ServiceManager | undefined {
  const { NOTIFY_SOCKET: address, WATCHDOG_USEC: watchdogUs, WATCHDOG_PID: watchdogPid } = env;
  delete env.NOTIFY_SOCKET;
  delete env.WATCHDOG_USEC;
  delete env.WATCHDOG_PID;
  if (!address) return undefined;
  let socket: NotifySocket;
  try {
    socket = new native.NotifySocket(address);
  } catch {
    return undefined; // of a kind that evictd does not know (vsock)
  }
  const isMeant = watchdogPid === undefined || Number(watchdogPid) === process.pid;
  return {
    watchdogMs: isMeant ? watchdogMs(watchdogUs) : undefined,
    notify: (...lines) => socket.notify(lines.join('\n')) === 0,
    // The end of the process says it.
    ended: () => undefined,
    close: () => {
      socket.close();
    },
  };
}

function watchdogMs(text = ''): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) / 1_000 : undefined;
}
