import type { Effect } from '../../core/decide/effect.js';
import type { ConditionType } from '../../core/signal/signal.js';
import type { Heartbeat, ServiceManager, StepListener, StepReport } from '../../monitor/ports/ports.js';
import { printable } from '../../core/name/printable.js';
import { victimName } from '../../core/workload/process.js';

export interface ServiceParts {
  /** undefined: evictd was started by hand. */
  readonly manager: ServiceManager | undefined;
  /** 'guarding machine' */
  readonly what: () => string;
}

/** A message for a pass comes no sooner after the last one than the watchdog's time divided by this, … */
const EARLIEST = 4n;
/** … a pass has to be made by then, … */
const LATEST = 2n;
/** … and the message is tried again by then, where it could not be sent. */
const AGAIN = 16n;

/** Notifies the service manager that evictd is ready, reloads, lives, or stops; and sends a line of status. */
export class Service implements StepListener, Heartbeat {
  readonly #conditions = new Set<ConditionType>();
  #evictions = 0;
  #last = '';
  readonly #watchdogNs: bigint | undefined;
  /** The next message is sent no sooner, and a pass is made no later; monotonic clock. */
  #earliestNs: bigint;
  #latestNs: bigint;
  /** READY=1 is still to be sent: without it systemd would end evictd as one that did not start. */
  #isReadyDue = false;
  #sentStatus: string;

  constructor(private readonly parts: ServiceParts) {
    this.#sentStatus = this.#status();
    const { watchdogMs } = parts.manager ?? {};
    this.#watchdogNs = watchdogMs === undefined ? undefined : BigInt(Math.round(watchdogMs * 1e6));
    const nowNs = process.hrtime.bigint();
    this.#earliestNs = nowNs + (this.#watchdogNs ?? 0n) / EARLIEST;
    this.#latestNs = nowNs + (this.#watchdogNs ?? 0n) / LATEST;
  }

  /** Conditions that were true when the loop began. */
  resumed(conditions: readonly ConditionType[]): void {
    for (const type of conditions) this.#conditions.add(type);
  }

  /** Called after a start and after each reload. If the message cannot be sent, it is sent with the next one. */
  ready(): void {
    if (this.parts.manager === undefined) return;
    this.#isReadyDue = true;
    this.#send();
  }

  /** Only the loop feeds the watchdog, no timer of its own: a loop that hangs in a reading is restarted. */
  beat(nowNs: bigint): void {
    const { manager } = this.parts;
    if (manager === undefined || this.#watchdogNs === undefined || nowNs < this.#earliestNs) return;
    if (this.#isReadyDue) this.#send();
    const isSent = manager.notify('WATCHDOG=1');
    this.#earliestNs = nowNs + this.#watchdogNs / (isSent ? EARLIEST : AGAIN);
    this.#latestNs = nowNs + this.#watchdogNs / (isSent ? LATEST : AGAIN);
  }

  dueAtNs(): bigint | undefined {
    return this.#watchdogNs === undefined ? undefined : this.#latestNs;
  }

  /** `ready` must follow, whether or not the reload succeeded. */
  reloading(): void {
    this.#isReadyDue = false;
    this.parts.manager?.notify('RELOADING=1', `MONOTONIC_USEC=${String(process.hrtime.bigint() / 1_000n)}`);
  }

  stepped({ effects }: StepReport): void {
    for (const effect of effects) this.#note(effect);
    if (this.#isReadyDue || this.#status() !== this.#sentStatus) this.#send();
  }

  skipped(): boolean {
    return !this.#isReadyDue;
  }

  close(): void {
    this.parts.manager?.notify('STOPPING=1', 'STATUS=stopping');
    this.parts.manager?.close();
  }

  ended(): void {
    this.parts.manager?.ended();
  }

  #send(): void {
    const status = this.#status();
    if (!this.parts.manager?.notify(...(this.#isReadyDue ? ['READY=1', status] : [status]))) return;
    this.#isReadyDue = false;
    this.#sentStatus = status;
  }

  #note(effect: Effect): void {
    if (effect.kind === 'condition') {
      if (effect.status) this.#conditions.add(effect.type);
      else this.#conditions.delete(effect.type);
    } else if (effect.kind === 'outcome' && effect.outcome.counted) {
      this.#evictions += 1;
      this.#last = victimName(effect.outcome.decision.victim);
    }
  }

  #status(): string {
    const conditions = [...this.#conditions].map((type) => `, ${type}`).join('');
    const evictions = this.#evictions === 0 ? '' : `; evictions: ${String(this.#evictions)}, last: ${this.#last}`;
    return printable(`STATUS=${this.parts.what()}${conditions}${evictions}`.replaceAll('\n', ' '));
  }
}
