import { unmarshall, type DBusMessage } from 'dbus-native/lib/message.js';

/** systemd's replies have some ten KiB. Whatever claims more is no message. */
const AT_MOST_BYTES = 16 * 1024 * 1024;
const HEAD_BYTES = 16;
const SIGNAL = 4;

/** Cuts the bytes of a D-Bus connection into messages (D-Bus specification, "Message Format"). */
export class MessageReader {
  readonly #wanted: readonly string[];
  #pending: Buffer = Buffer.alloc(0);

  /** @param wanted  the members of signals that are decoded: systemd tells of every unit of the machine, and to decode all of that would be work for nothing */
  constructor(wanted: readonly string[]) {
    this.#wanted = wanted.map((member) => `${member}\0`);
  }

  /** The messages that are complete with these bytes. A signal has no body. Throws where the bytes are no messages; nothing can be read after that. */
  push(bytes: Buffer): DBusMessage[] {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const messages: DBusMessage[] = [];
    for (let sizes = this.#sizes(); sizes !== undefined && this.#pending.length >= sizes.all; sizes = this.#sizes()) {
      const message = this.#pending.subarray(0, sizes.all);
      this.#pending = this.#pending.subarray(sizes.all);
      if (message[1] !== SIGNAL) messages.push(unmarshall(message, { returnBigInt: true, plainValues: true }));
      else messages.push(...this.#signal(message.subarray(HEAD_BYTES, HEAD_BYTES + sizes.fields)));
    }
    return messages;
  }

  /** undefined: not even the head is there. */
  #sizes(): { readonly fields: number; readonly all: number } | undefined {
    const head = this.#pending;
    if (head.length < HEAD_BYTES) return undefined;
    const isLittle = head[0] === 0x6c;
    if (!isLittle && head[0] !== 0x42) throw new Error(`no D-Bus message: it begins with ${String(head[0])}`);
    const [body, fields] = isLittle ? [head.readUInt32LE(4), head.readUInt32LE(12)] : [head.readUInt32BE(4), head.readUInt32BE(12)];
    const all = HEAD_BYTES + Math.ceil(fields / 8) * 8 + body;
    if (all > AT_MOST_BYTES) throw new Error(`a D-Bus message of ${String(all)} bytes`);
    return { fields, all };
  }

  /** By the strings of its header, which cannot be mistaken for each other: systemd's paths begin with /org/, and a member has no slash. The length in front of a path may look like a slash. */
  #signal(fields: Buffer): DBusMessage[] {
    const text = fields.toString('latin1');
    const member = this.#wanted.find((name) => text.includes(name));
    if (member === undefined) return [];
    const [path = ''] = /\/org\/[A-Za-z0-9_/]*/.exec(text) ?? [];
    return [{ type: SIGNAL, path, member: member.slice(0, -1) }];
  }
}
