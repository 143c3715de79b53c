import { BusConnection, type BusAddress, type BusCall, type BusEvents, type BusReply } from './bus-connection.js';

/**
 * systemd's own socket first: root may use it, and it is there even while the bus daemon is not, or is what has run out of memory. It is no promise of systemd's,
 * so that the bus comes second.
 */
export const SYSTEMD_ADDRESSES: readonly BusAddress[] = [
  { path: '/run/systemd/private', daemon: false },
  { path: '/run/dbus/system_bus_socket', daemon: true },
];

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Neither up nor over after so long: whoever listens there hangs. */
const CONNECTING_AT_MOST_MS = 5_000;

/** `up`: each time that there is a connection; what was asked for before is answered or lost. `down`: there is none, or none any more; tried again. */
export type BusLinkEvents = Pick<BusEvents, 'up' | 'signal'> & Partial<Pick<BusEvents, 'down'>>;

/** A connection to systemd that comes again: systemd closes it when it executes itself anew, and the bus when it is started anew. */
export class BusLink {
  readonly #addresses: readonly BusAddress[];
  readonly #signals: readonly string[];
  readonly #events: BusLinkEvents;
  #connection: BusConnection | undefined;
  #up = false;
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #trouble: readonly string[] = [];
  #closed = false;

  constructor(addresses: readonly BusAddress[], signals: readonly string[], events: BusLinkEvents) {
    this.#addresses = addresses;
    this.#signals = signals;
    this.#events = events;
    this.#connect();
  }

  get up(): boolean {
    return this.#up;
  }

  /** Why there is none, by every way that was tried; undefined: there is one, or none was tried yet. */
  get trouble(): string | undefined {
    return this.#up || this.#trouble.length === 0 ? undefined : this.#trouble.join('; ');
  }

  /** false: it did not go out, and nothing is answered. */
  call(call: BusCall, done: (reply: BusReply) => void): boolean {
    return this.#connection?.call(call, done) ?? false;
  }

  /** Gives up a connection on which nobody answers. */
  renew(reason: string): void {
    if (this.#up) this.#connection?.giveUp(reason);
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    clearTimeout(this.#timer);
    this.#connection?.close();
  }

  #connect(): void {
    const address = this.#addresses[this.#next];
    if (address === undefined) return;
    this.#after(CONNECTING_AT_MOST_MS, () => {
      this.#connection?.close();
      this.#down(`no answer within ${String(CONNECTING_AT_MOST_MS / 1000)} s`);
    });
    this.#connection = new BusConnection(address, this.#signals, {
      up: () => {
        clearTimeout(this.#timer);
        this.#up = true;
        this.#next = 0;
        this.#pauseMs = FIRST_PAUSE_MS;
        this.#trouble = [];
        this.#events.up();
      },
      down: (reason) => {
        this.#down(reason);
      },
      signal: this.#events.signal,
    });
  }

  #down(reason: string): void {
    if (this.#closed) return;
    this.#connection = undefined;
    const wasUp = this.#up;
    this.#up = false;
    const where = this.#addresses[this.#next]?.path ?? '';
    this.#trouble = wasUp || this.#next === 0 ? [`${where}: ${reason}`] : [...this.#trouble, `${where}: ${reason}`];
    this.#next = wasUp ? 0 : (this.#next + 1) % this.#addresses.length;
    if (this.#next > 0) {
      this.#connect();
      return;
    }
    this.#after(this.#pauseMs, () => {
      this.#connect();
    });
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#events.down?.(this.#trouble.join('; '));
  }

  #after(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
    this.#timer.unref();
  }
}
