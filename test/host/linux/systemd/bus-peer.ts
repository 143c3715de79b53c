import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { marshall, unmarshall, type DBusMessage } from 'dbus-native/lib/message.js';
import { onTestFinished } from 'vitest';

/** undefined: it is never answered. An error as `{ error: name }`. */
type Answer = { readonly signature: string; readonly body: readonly unknown[] } | { readonly error: string } | undefined;

/**
 * The other end of a connection, on a real socket: for what systemd itself cannot be made to do (to hang, to send half
 * a message, to be of another version). Understands the messages that evictd sends, which come whole in these tests.
 */
export class BusPeer {
  readonly path = join(mkdtempSync(join(tmpdir(), 'evictd-bus-')), 'socket');
  readonly calls: DBusMessage[] = [];
  answer: (call: DBusMessage) => Answer = () => ({ signature: '', body: [] });
  /** After an answer is on its way. */
  sent: (call: DBusMessage) => void = () => undefined;
  /** Whether it accepts the authentication of a client; undefined: it does not answer. */
  admits: boolean | undefined = true;
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      let begun = false;
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('data', (data) => {
        let rest = data;
        if (!begun) {
          const text = rest.toString('latin1');
          if (text.includes('AUTH ') && this.admits !== undefined) socket.write(this.admits ? 'OK 1234\r\n' : 'REJECTED EXTERNAL\r\n');
          const at = text.indexOf('BEGIN\r\n');
          if (at < 0) return;
          begun = true;
          rest = rest.subarray(at + 7);
        }
        this.#read(socket, rest);
      });
    });
  }

  static async open(): Promise<BusPeer> {
    const peer = new BusPeer();
    await new Promise<void>((resolve) => peer.#server.listen(peer.path, resolve));
    onTestFinished(() => {
      peer.close();
    });
    return peer;
  }

  get connected(): number {
    return this.#sockets.size;
  }

  /** To all connected clients. */
  send(bytes: Buffer): void {
    for (const socket of this.#sockets) socket.write(bytes);
  }

  signal(member: string, path: string): void {
    this.send(marshall({ type: 4, serial: 1, path, interface: 'org.freedesktop.DBus.Properties', member }));
  }

  /** Takes nothing off any more. */
  pause(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.hangUp();
    this.#server.close();
    rmSync(join(this.path, '..'), { recursive: true, force: true });
  }

  #read(socket: Socket, bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      const size = 16 + Math.ceil(rest.readUInt32LE(12) / 8) * 8 + rest.readUInt32LE(4);
      const call = unmarshall(rest.subarray(0, size), { returnBigInt: true, plainValues: true });
      rest = rest.subarray(size);
      this.calls.push(call);
      const answer = this.answer(call);
      if (answer === undefined) continue;
      socket.write(reply(call, answer));
      this.sent(call);
    }
  }
}

export function reply({ serial = 0 }: DBusMessage, answer: Exclude<Answer, undefined>): Buffer {
  const to = { serial: 7, replySerial: serial };
  if ('error' in answer) return marshall({ ...to, type: 3, errorName: answer.error, signature: 's', body: ['it says no'] });
  return marshall({ ...to, type: 2, ...(answer.signature !== '' && { signature: answer.signature, body: [...answer.body] }) });
}
