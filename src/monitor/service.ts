import type { Effect } from '../core/effect.js';
import type { ConditionType } from '../core/signal.js';
import type { Heartbeat, ServiceManager, StepListener, StepReport } from './ports.js';

export interface ServiceParts {
  /** undefined: evictd was started by hand, and nobody is told. */
  readonly manager: ServiceManager | undefined;
  /** 'guarding machine' */
  readonly what: string;
}

/** Of the time that the watchdog waits: a pass that comes sooner after the last is not worth a message, … */
const EARLIEST = 4n;
/** … after this one a pass must be made for it, … */
const LATEST = 2n;
/** … and after this one it is tried again, where the manager could not be told. */
const AGAIN = 16n;

/** What the service manager is told: that evictd is ready, reads its configuration, lives, stops; and in a line what it is about. */
export class Service implements StepListener, Heartbeat {
  readonly #parts: ServiceParts;
  readonly #conditions = new Set<ConditionType>();
  #evictions = 0;
  #last = '';
  readonly #watchdogNs: bigint | undefined;
  /** Told of no pass before, and of one by then; monotonic clock. */
  #earliestNs: bigint;
  #latestNs: bigint;
  /** It waits to be told READY=1: without that systemd would end evictd as one that never started. */
  #owesReady = false;
  /** The status that it knows. */
  #told: string;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#told = this.#status(); // with READY=1
    const { watchdogMs } = parts.manager ?? {};
    this.#watchdogNs = watchdogMs === undefined ? undefined : BigInt(Math.round(watchdogMs * 1e6));
    const nowNs = process.hrtime.bigint();
    this.#earliestNs = nowNs + (this.#watchdogNs ?? 0n) / EARLIEST;
    this.#latestNs = nowNs + (this.#watchdogNs ?? 0n) / LATEST;
  }

  /** What already was so when the loop began to run. */
  resumed(conditions: readonly ConditionType[]): void {
    for (const type of conditions) this.#conditions.add(type);
  }

  /** After a start and after each reload. A manager that has fallen behind is told with the next sign of life, or step. */
  ready(): void {
    if (this.#parts.manager === undefined) return;
    this.#owesReady = true;
    this.#tell();
  }

  /** The watchdog hears of passes that were made, and of nothing else: no timer feeds it. A loop that hangs in a reading is ended, and begun anew. */
  beat(nowNs: bigint): void {
    const { manager } = this.#parts;
    if (manager === undefined || this.#watchdogNs === undefined || nowNs < this.#earliestNs) return;
    if (this.#owesReady) this.#tell();
    const told = manager.tell('WATCHDOG=1');
    this.#earliestNs = nowNs + this.#watchdogNs / (told ? EARLIEST : AGAIN);
    this.#latestNs = nowNs + this.#watchdogNs / (told ? LATEST : AGAIN);
  }

  dueAtNs(): bigint | undefined {
    return this.#watchdogNs === undefined ? undefined : this.#latestNs;
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
    this.#parts.manager?.tell('STOPPING=1', 'STATUS=stopping');
    this.#parts.manager?.close();
  }

  /** Nothing is left to be done. */
  ended(): void {
    this.#parts.manager?.ended();
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
