import { BusConnection, type BusAddress, type BusCall, type BusEvents, type BusReply, type BusSignal } from './bus-connection.js';

/**
 * systemd's private socket first: root may use it, and it works while the bus daemon is down or out of memory. It is not a
 * documented interface, so the bus comes second.
 */
export const SYSTEMD_ADDRESSES: readonly BusAddress[] = [
  { path: '/run/systemd/private', daemon: false },
  { path: '/run/dbus/system_bus_socket', daemon: true },
];

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** A peer that takes longer hangs. */
const CONNECT_TIMEOUT_MS = 5_000;

/** `up`: at each connection; earlier calls are answered or lost. `down`: no connection; it is tried again. */
type BusLinkEvents = Pick<BusEvents, 'up' | 'signal'> & Partial<Pick<BusEvents, 'down'>>;

/** A connection to systemd that is renewed: systemd closes it on daemon-reexec, the bus daemon on a restart. */
export class BusLink {
  readonly #addresses: readonly BusAddress[];
  readonly #signals: readonly string[];
  readonly #events: BusLinkEvents;
  #connection: BusConnection | undefined;
  #up = false;
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #errors: readonly string[] = [];
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

  /** Why there is none, for each address; undefined: there is one, or none was tried yet. */
  get lastError(): string | undefined {
    return this.#up || this.#errors.length === 0 ? undefined : this.#errors.join('; ');
  }

  /** false: not sent, and there will be no answer. */
  call(call: BusCall, done: (reply: BusReply) => void): boolean {
    return this.#connection?.call(call, done) ?? false;
  }

  /** false: not sent. */
  emit(signal: BusSignal): boolean {
    return this.#connection?.emit(signal) ?? false;
  }

  /** Gives up a connection without answers. */
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
    this.#after(CONNECT_TIMEOUT_MS, () => {
      this.#connection?.close();
      this.#down(`no answer within ${String(CONNECT_TIMEOUT_MS / 1000)} s`);
    });
    this.#connection = new BusConnection(address, this.#signals, {
      up: () => {
        clearTimeout(this.#timer);
        this.#up = true;
        this.#next = 0;
        this.#pauseMs = FIRST_PAUSE_MS;
        this.#errors = [];
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
    this.#errors = wasUp || this.#next === 0 ? [`${where}: ${reason}`] : [...this.#errors, `${where}: ${reason}`];
    this.#next = wasUp ? 0 : (this.#next + 1) % this.#addresses.length;
    if (this.#next > 0) {
      this.#connect();
      return;
    }
    this.#after(this.#pauseMs, () => {
      this.#connect();
    });
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#events.down?.(this.#errors.join('; '));
  }

  #after(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
    this.#timer.unref();
  }
}
