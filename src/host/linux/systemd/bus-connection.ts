import { createConnection, type Socket } from 'node:net';
import authenticate from 'dbus-native/lib/handshake.js';
import { marshall, type DBusMessage } from 'dbus-native/lib/message.js';
import { MessageReader } from './message-reader.js';

/** Where somebody is to be reached. `daemon`: by way of the bus, which wants to be greeted, and to be told which signals are to be delivered. */
export interface BusAddress {
  readonly path: string;
  readonly daemon: boolean;
  /** Match rules (D-Bus specification, "Match Rules"); undefined: all signals of systemd. */
  readonly rules?: readonly string[];
}

/**
 * `sender=` is whoever owns that name, which the bus looks up for each signal. It does not keep others from sending the same signal to this connection alone: that needs no
 * rule, and any user may. So a signal says 'look now', and what is so is asked for.
 */
const SYSTEMD_RULES = ["type='signal',sender='org.freedesktop.systemd1',path_namespace='/org/freedesktop/systemd1'"];

export interface BusCall {
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly destination?: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
}

export type BusReply =
  | { readonly ok: true; readonly body: readonly unknown[] }
  /** `name`: as D-Bus has it, 'org.freedesktop.DBus.Error.UnknownMethod'; undefined: the connection was lost before the answer. */
  | { readonly ok: false; readonly name: string | undefined; readonly message: string };

export interface BusEvents {
  /** Authenticated: calls go out from now on. */
  readonly up: () => void;
  /** The connection is over, whether or not it ever was up. Not after `close`. */
  readonly down: (reason: string) => void;
  readonly signal: (member: string, path: string) => void;
}

/** What systemd does not take off the connection waits here; beyond this it is not there, for all that it is worth. */
const QUEUED_AT_MOST_BYTES = 256 * 1024;
const RETURN = 2;
const ERROR = 3;

/** One D-Bus connection to systemd, as root (EXTERNAL). Nothing of it waits or throws. */
export class BusConnection {
  readonly #socket: Socket;
  readonly #events: BusEvents;
  readonly #waiting = new Map<number, (reply: BusReply) => void>();
  readonly #reader: MessageReader;
  #serial = 0;
  #up = false;
  #over = false;

  /** @param signals  the members of those that are told */
  constructor({ path, daemon, rules = SYSTEMD_RULES }: BusAddress, signals: readonly string[], events: BusEvents) {
    this.#events = events;
    this.#reader = new MessageReader(signals);
    this.#socket = createConnection(path);
    // evictd lives for its monitor, not for this.
    this.#socket.unref();
    this.#socket.on('error', (error) => {
      this.#end(error.message);
    });
    this.#socket.on('close', () => {
      this.#end('the other side has closed the connection');
    });
    authenticate(this.#socket, { authMethods: ['EXTERNAL'] }, (error) => {
      if (error) this.#end(`authentication: ${error.message}`);
      else this.#begin(daemon ? rules : undefined);
    });
  }

  /** false: it did not go out, and nothing is answered. */
  call(call: BusCall, done: (reply: BusReply) => void): boolean {
    if (!this.#up) return false;
    return this.#call(call, done);
  }

  /** Ends it as if the other side had: whoever waits is told. */
  giveUp(reason: string): void {
    this.#end(reason);
  }

  /** Nobody is told of anything any more. */
  close(): void {
    this.#over = true;
    this.#up = false;
    this.#waiting.clear();
    this.#socket.destroy();
  }

  #begin(rules: readonly string[] | undefined): void {
    this.#socket.on('readable', () => {
      this.#read();
    });
    if (rules === undefined) {
      this.#comeUp();
      return;
    }
    const bus = { path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus', destination: 'org.freedesktop.DBus' };
    this.#call({ ...bus, member: 'Hello' }, (reply) => {
      if (!reply.ok) {
        this.#end(`the bus refuses: ${reply.message}`);
        return;
      }
      for (const rule of rules) this.#call({ ...bus, member: 'AddMatch', signature: 's', body: [rule] }, () => undefined);
      this.#comeUp();
    });
  }

  #comeUp(): void {
    this.#up = true;
    this.#events.up();
  }

  #call(call: BusCall, done: (reply: BusReply) => void): boolean {
    if (this.#over || this.#socket.writableLength > QUEUED_AT_MOST_BYTES) return false;
    this.#serial = (this.#serial % 0xffff_ffff) + 1;
    const { body, ...rest } = call;
    const bytes = marshall({ type: 1, serial: this.#serial, ...rest, ...(body && { body: [...body] }) });
    this.#waiting.set(this.#serial, done);
    // As much as the kernel takes is written before this returns.
    this.#socket.write(bytes);
    return true;
  }

  #read(): void {
    try {
      for (let bytes = this.#next(); bytes !== null; bytes = this.#next()) {
        for (const message of this.#reader.push(bytes)) this.#take(message);
      }
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  #next(): Buffer | null {
    return this.#over ? null : (this.#socket.read() as Buffer | null);
  }

  #take({ type, replySerial, errorName, member, path, body = [] }: DBusMessage): void {
    if (this.#over) return;
    if (type !== RETURN && type !== ERROR) {
      if (member !== undefined) this.#events.signal(member, path ?? '');
      return;
    }
    const done = replySerial === undefined ? undefined : this.#waiting.get(replySerial);
    if (replySerial === undefined || done === undefined) return;
    this.#waiting.delete(replySerial);
    if (type === RETURN) {
      done({ ok: true, body });
    } else {
      const [message] = body;
      done({ ok: false, name: errorName, message: typeof message === 'string' ? message : (errorName ?? 'an error without a name') });
    }
  }

  #end(reason: string): void {
    if (this.#over) return;
    const waiting = [...this.#waiting.values()];
    this.close();
    for (const done of waiting) done({ ok: false, name: undefined, message: reason });
    this.#events.down(reason);
  }
}
