import { serviceStop } from '../../core/windows/windows-service.js';
import { errnoName, isShortage } from '../../errors.js';
import type { KillInProgress, SignalResult, VictimSample } from '../../monitor/ports/ports.js';
import { thrownText } from '../../native/system-error.js';
import type { WindowsBinding } from '../../native/windows-binding.js';
import type { TreeKill } from './process-tree-kill.js';

/** The service is stopping already, or has ended. */
const IS_STOPPING: ReadonlySet<string | undefined> = new Set(['ERROR_SERVICE_NOT_ACTIVE']);
/**
 * These may resolve within the grace period: the service is starting, its manager is busy, or dependent services run.
 */
const PASSING: ReadonlySet<string | undefined> = new Set([
  'ERROR_SERVICE_CANNOT_ACCEPT_CTRL',
  'ERROR_SERVICE_REQUEST_TIMEOUT',
  'ERROR_DEPENDENT_SERVICES_RUNNING',
]);

/**
 * Interval of repeated requests: victims are read up to 1000 times a second, and listing services takes milliseconds.
 */
const ASK_AGAIN_NS = 250_000_000n;

/** Ends a service: the service manager stops it; the remaining processes are ended as a tree. */
export class ServiceKill implements KillInProgress {
  readonly #name: string;
  readonly #pid: number;
  /** The last answer, while it may change. */
  #waiting: SignalResult | undefined;

  constructor(
    private readonly native: Pick<WindowsBinding, 'stopService' | 'services'>,
    { name, pid }: { readonly name: string; readonly pid: number },
    private readonly tree: TreeKill,
  ) {
    this.#name = name;
    this.#pid = pid;
  }

  /**
   * Ends a service at once if it does not accept a stop. Sends nothing to a stopping service, and waits for a starting
   * one.
   */
  terminate(): SignalResult {
    const waiting = this.#waiting;
    if (waiting !== undefined && process.hrtime.bigint() - waiting.atNs < ASK_AGAIN_NS) return waiting;
    const objection = this.tree.objection();
    const result = (error?: string, passing?: SignalResult['passing']): SignalResult => {
      return { atNs: process.hrtime.bigint(), processes: this.tree.read().processes, error, ...(passing && { passing }) };
    };
    if (objection !== undefined) return result(`no stop was sent: ${objection.error}`, objection.passing);
    try {
      // With another pid it was restarted and is another workload.
      const service = this.native.services().find(({ name }) => name === this.#name);
      if (service?.pid !== this.#pid) return result();
      const stop = serviceStop(service);
      if (stop === 'ending') return result();
      if (stop === 'later') return this.#wait(result(`service ${this.#name} does not take a stop yet: ${service.state}`, 'unsent'));
      this.native.stopService(this.#name);
      return result();
    } catch (error) {
      const code = errnoName(error);
      if (IS_STOPPING.has(code)) return result();
      const unsent = result(`service ${this.#name}: ${thrownText(error)}`, 'unsent');
      if (PASSING.has(code)) return this.#wait(unsent);
      if (isShortage(error)) return unsent;
      return this.tree.kill();
    }
  }

  /** The service manager treats this as a failure and may restart the service, as configured. */
  kill(): SignalResult {
    return this.tree.kill();
  }

  read(): VictimSample {
    return this.tree.read();
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.tree.onExit(callback);
  }

  close(): void {
    this.tree.close();
  }

  #wait(answer: SignalResult): SignalResult {
    this.#waiting = answer;
    return answer;
  }
}
