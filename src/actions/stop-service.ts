import { serviceStop } from '../core/windows-service.js';
import { errnoName, isShortage } from '../errors.js';
import type { KillInProgress, SignalResult, VictimSample } from '../monitor/ports.js';
import { thrownText } from '../native/system-error.js';
import type { WindowsBinding } from '../native/windows-binding.js';
import type { TreeKill } from './stop-process-tree.js';

/** What it answers where it has been told already, or has ended. */
const IS_STOPPING: ReadonlySet<string | undefined> = new Set(['ERROR_SERVICE_NOT_ACTIVE']);
/** What may pass in its grace: it is just starting, its manager is busy, or services run that depend on it, which nobody has told to stop. */
const PASSING: ReadonlySet<string | undefined> = new Set([
  'ERROR_SERVICE_CANNOT_ACCEPT_CTRL',
  'ERROR_SERVICE_REQUEST_TIMEOUT',
  'ERROR_DEPENDENT_SERVICES_RUNNING',
]);

/** Who cannot be told yet is asked again at this distance: victims are looked at up to a thousand times a second, and to list processes and services takes milliseconds. */
const ASK_AGAIN_NS = 250_000_000n;

/** The end of a service: the service manager tells it to stop, and whoever is left of its processes is ended as any tree. */
export class ServiceKill implements KillInProgress {
  readonly #native: Pick<WindowsBinding, 'stopService' | 'services'>;
  readonly #name: string;
  readonly #pid: number;
  readonly #tree: TreeKill;
  /** What it last answered, where that may pass. */
  #waiting: SignalResult | undefined;

  constructor(
    native: Pick<WindowsBinding, 'stopService' | 'services'>,
    { name, pid }: { readonly name: string; readonly pid: number },
    tree: TreeKill,
  ) {
    this.#native = native;
    this.#name = name;
    this.#pid = pid;
    this.#tree = tree;
  }

  /** A service that does not take a stop would only be waited for: it is ended. One that is ending is told nothing, and one that is starting as soon as it takes it. */
  terminate(): SignalResult {
    const waiting = this.#waiting;
    if (waiting !== undefined && process.hrtime.bigint() - waiting.atNs < ASK_AGAIN_NS) return waiting;
    const objection = this.#tree.objection();
    const result = (error?: string, passing?: SignalResult['passing']): SignalResult => {
      return { atNs: process.hrtime.bigint(), processes: this.#tree.read().processes, error, ...(passing && { passing }) };
    };
    if (objection !== undefined) return result(`nobody is told to stop: ${objection.error}`, objection.passing);
    try {
      // Started again meanwhile, it is another workload.
      const service = this.#native.services().find(({ name }) => name === this.#name);
      if (service?.pid !== this.#pid) return result();
      const stop = serviceStop(service);
      if (stop === 'unasked') return result();
      if (stop === 'later') return this.#wait(result(`service ${this.#name} does not take a stop yet: ${service.state}`, 'unsent'));
      this.#native.stopService(this.#name);
      return result();
    } catch (error) {
      const code = errnoName(error);
      if (IS_STOPPING.has(code)) return result();
      const unsent = result(`service ${this.#name}: ${thrownText(error)}`, 'unsent');
      if (PASSING.has(code)) return this.#wait(unsent);
      if (isShortage(error)) return unsent;
      return this.#tree.kill();
    }
  }

  /** Its manager takes that for a failure, and does what is set for one: it may be started again. */
  kill(): SignalResult {
    return this.#tree.kill();
  }

  read(): VictimSample {
    return this.#tree.read();
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#tree.onExit(callback);
  }

  close(): void {
    this.#tree.close();
  }

  #wait(answer: SignalResult): SignalResult {
    this.#waiting = answer;
    return answer;
  }
}
