import type { ServiceManager } from '../../monitor/ports/ports.js';
import type { ServiceDispatcher, WindowsBinding } from '../../native/windows-binding.js';

/** The name that `evictd install` gives the service. In a process with one service the dispatcher ignores it. */
const SERVICE = 'evictd';
/** An orderly end takes at most 18 s. */
const ENDS_WITHIN_MS = 25_000;

/**
 * The service manager of Windows. A process that it did not start learns so at once, and runs without it. Of the
 * notifications for systemd only READY and STOPPING matter here.
 *
 * @param onStop it asks evictd to stop, or the machine goes down
 */
export function openServiceManager(native: Pick<WindowsBinding, 'ServiceDispatcher'>, onStop: () => void): ServiceManager {
  return new ServiceControl(native, onStop);
}

class ServiceControl implements ServiceManager {
  readonly watchdogMs = undefined;
  readonly #dispatcher: ServiceDispatcher;
  #state: 'uncalled' | 'called' | 'ended' = 'uncalled';
  /** The last state, reported as soon as the manager calls. */
  #reported: 'start-pending' | 'running' | 'stop-pending' = 'start-pending';

  constructor(native: Pick<WindowsBinding, 'ServiceDispatcher'>, onStop: () => void) {
    this.#dispatcher = new native.ServiceDispatcher(SERVICE, (control) => {
      if (control === 'start') {
        this.#state = 'called';
        this.#report();
      } else if (control === 'failed') this.#state = 'ended';
      else {
        this.#reported = 'stop-pending';
        this.#report();
        onStop();
      }
    });
  }

  notify(...lines: readonly string[]): boolean {
    const next = lines.includes('STOPPING=1') ? 'stop-pending' : lines.includes('READY=1') ? 'running' : undefined;
    if (next === undefined || this.#reported === 'stop-pending') return true;
    this.#reported = next;
    this.#report();
    return true;
  }

  /** Reports the end. The lock is then free for the next start. An end without the report counts as a failure of the service. */
  ended(): void {
    if (this.#state === 'called') {
      this.#attempt(() => {
        this.#dispatcher.report('stopped', { exitCode: 0 });
      });
    }
    this.#state = 'ended';
    this.#dispatcher.close();
  }

  /** The loop has stopped, but much is still to be written. */
  close(): void {
    return;
  }

  #report(): void {
    if (this.#state !== 'called') return;
    const options = this.#reported === 'running' ? {} : { waitHintMs: ENDS_WITHIN_MS };
    this.#attempt(() => {
      this.#dispatcher.report(this.#reported, options);
    });
  }

  /** A refused report does not stop evictd from guarding. */
  #attempt(report: () => void): void {
    try {
      report();
    } catch {
      this.#state = 'ended';
    }
  }
}
