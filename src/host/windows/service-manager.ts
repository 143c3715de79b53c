import type { ServiceManager } from '../../monitor/ports.js';
import type { ServiceDispatcher, WindowsBinding } from '../../native/windows-binding.js';

/** The name that `evictd install` gives the service. The dispatcher of a process with one service does not look at it. */
const SERVICE = 'evictd';
/** An orderly end takes 18 s at most. */
const ENDS_WITHIN_MS = 25_000;

/**
 * The service manager of Windows. A process that it has not started learns that from the system at once, and goes on without.
 *
 * It wants to hear less than systemd: what stands in the lines beyond READY and STOPPING is for that one.
 *
 * @param onStop  it asks evictd to end, or the machine goes down
 */
export function openServiceManager(native: Pick<WindowsBinding, 'ServiceDispatcher'>, onStop: () => void): ServiceManager {
  return new ServiceControl(native, onStop);
}

class ServiceControl implements ServiceManager {
  readonly watchdogMs = undefined;
  readonly #dispatcher: ServiceDispatcher;
  #state: 'uncalled' | 'called' | 'gone' = 'uncalled';
  /** What it was last told, or is told as soon as it calls. */
  #told: 'start-pending' | 'running' | 'stop-pending' = 'start-pending';

  constructor(native: Pick<WindowsBinding, 'ServiceDispatcher'>, onStop: () => void) {
    this.#dispatcher = new native.ServiceDispatcher(SERVICE, (control) => {
      if (control === 'start') {
        this.#state = 'called';
        this.#report();
      } else if (control === 'failed') this.#state = 'gone';
      else {
        this.#told = 'stop-pending';
        this.#report();
        onStop();
      }
    });
  }

  /** Of a line that it does not want it is told enough. */
  notify(...lines: readonly string[]): boolean {
    const next = lines.includes('STOPPING=1') ? 'stop-pending' : lines.includes('READY=1') ? 'running' : undefined;
    if (next === undefined || this.#told === 'stop-pending') return true;
    this.#told = next;
    this.#report();
    return true;
  }

  /** Whoever starts it again after this finds the lock free. An end that was not told before counts as a failure of the service. */
  ended(): void {
    if (this.#state === 'called') {
      this.#attempt(() => {
        this.#dispatcher.report('stopped', { exitCode: 0 });
      });
    }
    this.#state = 'gone';
    this.#dispatcher.close();
  }

  /** The loop has stopped, and much is still to be written. */
  close(): void {
    return;
  }

  #report(): void {
    if (this.#state !== 'called') return;
    const options = this.#told === 'running' ? {} : { waitHintMs: ENDS_WITHIN_MS };
    this.#attempt(() => {
      this.#dispatcher.report(this.#told, options);
    });
  }

  /** A manager that refuses a report changes nothing about guarding. */
  #attempt(report: () => void): void {
    try {
      report();
    } catch {
      this.#state = 'gone';
    }
  }
}
