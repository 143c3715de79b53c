import type { Effect } from '../core/effect.js';
import type { ConditionType } from '../core/signal.js';
import type { ServiceManager, StepListener, StepReport } from './ports.js';

export interface ServiceParts {
  /** undefined: evictd was started by hand, and nobody is told. */
  readonly manager: ServiceManager | undefined;
  /** 'guarding machine' */
  readonly what: string;
  /** Whether the loop runs: only then is the watchdog told so. */
  readonly isAlive: () => boolean;
}

/** What the service manager is told: that evictd is ready, reads its configuration, lives, stops; and in a line what it is about. */
export class Service implements StepListener {
  readonly #parts: ServiceParts;
  readonly #conditions = new Set<ConditionType>();
  #evictions = 0;
  #last = '';
  #watchdog: NodeJS.Timeout | undefined;
  /** It waits to be told READY=1: without that systemd would end evictd as one that never started. */
  #owesReady = false;
  /** The status that it knows. */
  #told: string;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#told = this.#status(); // with READY=1
  }

  /** After a start and after each reload. A manager that has fallen behind is told with the next sign of life, or step. */
  ready(): void {
    const { manager, isAlive } = this.#parts;
    if (manager === undefined) return;
    this.#owesReady = true;
    this.#tell();
    if (manager.watchdogMs === undefined || this.#watchdog !== undefined) return;
    this.#watchdog = setInterval(() => {
      if (!isAlive()) return;
      if (this.#owesReady) this.#tell();
      manager.tell('WATCHDOG=1');
    }, manager.watchdogMs / 2);
    this.#watchdog.unref();
  }

  /** `ready` must follow, whether or not the configuration was taken. */
  reloading(): void {
    this.#owesReady = false;
    this.#parts.manager?.tell('RELOADING=1', `MONOTONIC_USEC=${String(process.hrtime.bigint() / 1_000n)}`);
  }

  stepped({ effects }: StepReport): void {
    for (const effect of effects) this.#note(effect);
    if (this.#owesReady || this.#status() !== this.#told) this.#tell();
  }

  /** The loop has stopped. */
  close(): void {
    clearInterval(this.#watchdog);
    this.#parts.manager?.tell('STOPPING=1', 'STATUS=stopping');
    this.#parts.manager?.close();
  }

  #tell(): void {
    const status = this.#status();
    if (!this.#parts.manager?.tell(...(this.#owesReady ? ['READY=1', status] : [status]))) return;
    this.#owesReady = false;
    this.#told = status;
  }

  #note(effect: Effect): void {
    if (effect.kind === 'condition') {
      if (effect.status) this.#conditions.add(effect.type);
      else this.#conditions.delete(effect.type);
    } else if (effect.kind === 'outcome' && effect.outcome.counted) {
      this.#evictions += 1;
      this.#last = effect.outcome.decision.victim.workload.name;
    }
  }

  #status(): string {
    const conditions = [...this.#conditions].map((type) => `, ${type}`).join('');
    const evictions = this.#evictions === 0 ? '' : `; evictions: ${String(this.#evictions)}, last: ${this.#last}`;
    return `STATUS=${this.#parts.what}${conditions}${evictions}`.replaceAll('\n', ' ');
  }
}
