import * as crypto from 'node:crypto';
import type { ShutdownDelay, ShutdownDelayState, ShutdownEvents } from '../../../monitor/ports/shutdown-delay.js';
import { inhibitCommand, Inhibitor, type InhibitCommand } from './inhibitor.js';
import { LoginManager, SYSTEM_BUS, type LoginView } from './login-manager.js';
import { NS_PER_MS } from '../../../core/quantity/duration.js';
import { messageOf } from '../../../errors.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Refusals in a row after which the lock is released. */
const REFUSALS = 5;
const TAKING = 'the lock is being taken';
const LOCK_FAILED = 'the lock cannot be taken';

/**
 * Sends nothing before `start`.
 *
 * @param holds false: it only listens, and a shutdown does not wait
 */
export function openShutdownDelay(holds: boolean): ShutdownDelay {
  return new LoginShutdownDelay(SYSTEM_BUS, holds ? inhibitCommand : undefined);
}

/** Finds this lock in logind's list: in a pid namespace (a container) the pid there is another one. */
function whyOfThisOne(): string {
  return `ends workloads in order (${crypto.randomBytes(4).toString('hex')})`;
}

/** logind's delay lock, held while the machine does not go down. */
export class LoginShutdownDelay implements ShutdownDelay {
  #state: ShutdownDelayState = { kind: 'off', reason: TAKING };
  #events: ShutdownEvents | undefined;
  #login: LoginManager | undefined;
  #loginError: string | undefined;
  #refusals = 0;
  #lock: Inhibitor | undefined;
  #why = '';
  #lockError = TAKING;
  #preparing = false;
  #released = false;
  #again: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #closed = false;

  /** @param command  looked up each time, because it may be installed later. undefined: no lock is taken */
  constructor(
    private readonly path: string,
    private readonly command: InhibitCommand | undefined,
  ) {}

  get state(): ShutdownDelayState {
    return this.#state;
  }

  start(events: ShutdownEvents): void {
    if (this.#events !== undefined || this.#closed) return;
    this.#events = events;
    this.#login = new LoginManager(this.path, {
      seen: (view) => {
        this.#seen(view);
      },
      unavailable: (reason) => {
        this.#loginError = reason;
        this.#tell();
      },
      refused: (reason) => {
        this.#loginError = reason;
        this.#refusals += 1;
        // A shutdown would wait for an evictd that does not learn of it. During a shutdown `release` follows.
        if (this.#refusals >= REFUSALS && !this.#preparing) this.#letGo();
        this.#lookAgain();
        this.#tell();
      },
    });
  }

  /** Outside a shutdown there is nothing to release. */
  release(): void {
    if (!this.#preparing || this.#released) return;
    this.#released = true;
    this.#letGo();
    this.#tell();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
    this.#login?.close();
    this.#letGo();
  }

  #seen({ requestedAtNs, preparing, inhibitors }: LoginView): void {
    this.#loginError = undefined;
    this.#refusals = 0;
    const changed = preparing !== this.#preparing;
    this.#preparing = preparing;
    this.#released &&= preparing;
    const { takenAtNs } = this.#lock ?? {};
    // A lock taken after the question cannot be in the answer; during a shutdown no new lock can be taken.
    if (!preparing && takenAtNs !== undefined && takenAtNs < requestedAtNs && !inhibitors.has(this.#why))
      this.#lost('logind has lost the lock');
    if (changed) this.#events?.prepare(preparing);
    this.#take();
    this.#tell();
  }

  /** logind gives no lock during a shutdown. */
  #take(): void {
    if (this.#lock !== undefined || this.#preparing || this.#again !== undefined || this.#closed) return;
    if (this.command === undefined) {
      this.#lockError = 'evictd does not take the lock';
      return;
    }
    this.#why = whyOfThisOne();
    const command = this.command(this.#why);
    if (command === undefined) {
      this.#lost(`${LOCK_FAILED}: there is no systemd-inhibit`);
      return;
    }
    try {
      this.#lock = new Inhibitor(command, {
        taken: () => {
          this.#lockError = TAKING;
          this.#tell();
        },
        ended: (reason) => {
          this.#lost(`${LOCK_FAILED}: ${reason}`);
          this.#tell();
        },
      });
    } catch (error) {
      this.#lost(`${LOCK_FAILED}: ${messageOf(error)}`);
    }
  }

  #lost(reason: string): void {
    const { takenAtNs } = this.#lock ?? {};
    if (takenAtNs !== undefined && process.hrtime.bigint() - takenAtNs > BigInt(LONGEST_PAUSE_MS) * NS_PER_MS)
      this.#pauseMs = FIRST_PAUSE_MS;
    this.#letGo();
    this.#lockError = reason;
    this.#lookAgain();
  }

  /** Asks first whether logind runs: systemd-inhibit would make the bus start it. */
  #lookAgain(): void {
    if (this.#again !== undefined || this.#closed) return;
    this.#again = setTimeout(() => {
      this.#again = undefined;
      this.#login?.look();
    }, this.#pauseMs);
    this.#again.unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #letGo(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }

  #tell(): void {
    if (this.#closed) return;
    const before = this.#state;
    const now = this.#seenState();
    // Takes some milliseconds, so it is not reported.
    if (now.kind === 'off' && now.reason === TAKING) return;
    if (now.kind === before.kind && (now.kind !== 'off' || before.kind !== 'off' || now.reason === before.reason)) return;
    this.#state = now;
    this.#events?.changed(now);
  }

  #seenState(): ShutdownDelayState {
    if (this.#released) return { kind: 'released' };
    // A lock is useless if evictd does not learn of the shutdown.
    if (this.#loginError !== undefined) return { kind: 'off', reason: this.#loginError };
    if (this.#lock?.takenAtNs !== undefined) return { kind: 'held' };
    return { kind: 'off', reason: this.#preparing ? 'the machine is already shutting down' : this.#lockError };
  }
}
