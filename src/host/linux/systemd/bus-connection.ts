import { createConnection, type Socket } from 'node:net';
import authenticate from 'dbus-native/lib/handshake.js';
import { marshall, type DBusMessage } from 'dbus-native/lib/message.js';
import { MessageReader } from './message-reader.js';
import { messageOf } from '../../../errors.js';

/** systemd's bus name and interface prefix (org.freedesktop.systemd1(5)). */
export const SYSTEMD = 'org.freedesktop.systemd1';

/** A call to its manager. */
export const MANAGER = { path: '/org/freedesktop/systemd1', interface: `${SYSTEMD}.Manager`, destination: SYSTEMD };

export const PROPERTIES = 'org.freedesktop.DBus.Properties';

/** An address. `daemon`: the bus daemon, which wants Hello and match rules. */
export interface BusAddress {
  readonly path: string;
  readonly daemon: boolean;
  /** Match rules (D-Bus specification, "Match Rules"); undefined: all signals of systemd. */
  readonly rules?: readonly string[];
}

/**
 * `sender=` is the owner of that name. Any user can still send such a signal to this connection directly, without a
 * rule. So a signal only says 'look now'.
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

/** A signal to every listener. */
export type BusSignal = Pick<BusCall, 'path' | 'interface' | 'member' | 'signature' | 'body'>;

export type BusReply =
  | { readonly ok: true; readonly body: readonly unknown[] }
  /**
   * `name`: D-Bus's, 'org.freedesktop.DBus.Error.UnknownMethod'; undefined: the connection was lost before the answer.
   */
  | { readonly ok: false; readonly name: string | undefined; readonly message: string };

export interface BusEvents {
  /** Authenticated: calls can be made. */
  readonly up: () => void;
  /** The connection is over, whether or not it was up. Not after `close`. */
  readonly down: (reason: string) => void;
  /** `first`: the first value of a short body, where that is a string. */
  readonly signal: (member: string, path: string, first?: string) => void;
}

/** Bytes that wait for systemd to read; beyond this the connection counts as down. */
const MAX_QUEUED_BYTES = 256 * 1024;
const CALL = 1;
const RETURN = 2;
const ERROR = 3;
const SIGNAL = 4;

/** One D-Bus connection to systemd, as root (EXTERNAL). No call waits or throws. */
export class BusConnection {
  readonly #socket: Socket;
  readonly #events: BusEvents;
  readonly #waiting = new Map<number, (reply: BusReply) => void>();
  readonly #reader: MessageReader;
  #serial = 0;
  #up = false;
  #over = false;

  /** @param signals  the members of signals to deliver */
  constructor({ path, daemon, rules = SYSTEMD_RULES }: BusAddress, signals: readonly string[], events: BusEvents) {
    this.#events = events;
    this.#reader = new MessageReader(signals);
    this.#socket = createConnection(path);
    // It does not keep the process alive.
    this.#socket.unref();
    this.#socket.on('error', (error) => {
      this.#end(error.message);
    });
    this.#socket.on('close', () => {
      this.#end('the peer has closed the connection');
    });
    authenticate(this.#socket, { authMethods: ['EXTERNAL'] }, (error) => {
      if (error) this.#end(`authentication: ${error.message}`);
      else this.#begin(daemon ? rules : undefined);
    });
  }

  /** false: not sent, and there will be no answer. */
  call(call: BusCall, done: (reply: BusReply) => void): boolean {
    if (!this.#up) return false;
    return this.#call(call, done);
  }

  /** Sends a signal. false: not sent. */
  emit(signal: BusSignal): boolean {
    return this.#up && this.#send({ type: SIGNAL, ...signal }) !== undefined;
  }

  /** Ends it as if the peer had: pending calls fail. */
  giveUp(reason: string): void {
    this.#end(reason);
  }

  /** No callback is called after this. */
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
      this.#markConnected();
      return;
    }
    const bus = { path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus', destination: 'org.freedesktop.DBus' };
    this.#call({ ...bus, member: 'Hello' }, (reply) => {
      if (!reply.ok) {
        this.#end(`the bus refuses: ${reply.message}`);
        return;
      }
      for (const rule of rules) this.#call({ ...bus, member: 'AddMatch', signature: 's', body: [rule] }, () => undefined);
      this.#markConnected();
    });
  }

  #markConnected(): void {
    this.#up = true;
    this.#events.up();
  }

  #call(call: BusCall, done: (reply: BusReply) => void): boolean {
    const serial = this.#send({ type: CALL, ...call });
    if (serial === undefined) return false;
    this.#waiting.set(serial, done);
    return true;
  }

  /** The message's serial; undefined: not sent. What fits into the socket is written before this returns. */
  #send({ body, ...message }: BusCall & { readonly type: number }): number | undefined {
    if (this.#over || this.#socket.writableLength > MAX_QUEUED_BYTES) return undefined;
    this.#serial = (this.#serial % 0xffff_ffff) + 1;
    this.#socket.write(marshall({ serial: this.#serial, ...message, ...(body && { body: [...body] }) }));
    return this.#serial;
  }

  #read(): void {
    try {
      for (let bytes = this.#next(); bytes !== null; bytes = this.#next()) {
        for (const message of this.#reader.push(bytes)) this.#take(message);
      }
    } catch (error) {
      this.#end(messageOf(error));
    }
  }

  #next(): Buffer | null {
    return this.#over ? null : (this.#socket.read() as Buffer | null);
  }

  #take({ type, replySerial, errorName, member, path, body = [] }: DBusMessage): void {
    if (this.#over) return;
    if (type !== RETURN && type !== ERROR) {
      if (member !== undefined) this.#events.signal(member, path ?? '', body[0] as string | undefined);
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
