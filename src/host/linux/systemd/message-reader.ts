import { unmarshall, type DBusMessage } from 'dbus-native/lib/message.js';

/** Bound of a message that is kept; systemd's replies have some ten KiB. */
const AT_MOST_BYTES = 16 * 1024 * 1024;
/** The limit of the specification. Any user may send a signal this large: its body is skipped. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** Bound of a signal's header; systemd's paths and members have less than a KiB. */
const MAX_SIGNAL_FIELDS_BYTES = 16 * 1024;
/** Signals up to this size are kept with their body. The longest name of a unit has 255 bytes, and its path up to 800. */
const SHORT_SIGNAL_BYTES = 2048;
const HEAD_BYTES = 16;
const RETURN = 2;
const ERROR = 3;
const SIGNAL = 4;

interface Head {
  readonly type: number;
  readonly fields: number;
  /** Where the body begins. */
  readonly header: number;
  readonly isLittle: boolean;
  /** Bytes needed before it is decoded. */
  readonly kept: number;
  readonly all: number;
}

/** Cuts the bytes of a D-Bus connection into messages (D-Bus specification, "Message Format"). */
export class MessageReader {
  readonly #wanted: readonly string[];
  /** The received bytes in pieces, so that each byte is copied once or twice however slowly they arrive. */
  #pieces: Buffer[] = [];
  #length = 0;
  #head: Head | undefined;
  /** Bytes still to skip. */
  #passing = 0;

  /** @param wanted  the members of signals to decode; systemd sends signals for every unit */
  constructor(wanted: readonly string[]) {
    this.#wanted = wanted.map((member) => `${member}\0`);
  }

  /**
   * The complete replies, and the signals whose header is complete. Their body has the first value of a short one, where
   * that is a string, and is not checked: anyone may send a signal. Throws where the bytes are not messages; then the
   * connection is unusable.
   */
  push(bytes: Buffer): DBusMessage[] {
    const messages: DBusMessage[] = [];
    this.#keep(bytes);
    while (this.#length >= (this.#head?.kept ?? HEAD_BYTES)) {
      const pending = this.#pieces.length === 1 ? (this.#pieces[0] ?? bytes) : Buffer.concat(this.#pieces);
      this.#pieces = [pending];
      if (this.#head === undefined) {
        this.#head = headOf(pending);
        continue;
      }
      const head = this.#head;
      const { type, kept, all } = head;
      this.#head = undefined;
      this.#pieces = [];
      this.#length = 0;
      this.#passing = all - kept;
      this.#keep(pending.subarray(kept));
      if (type === SIGNAL) messages.push(...this.#signal(pending.subarray(0, kept), head));
      else if (type === RETURN || type === ERROR)
        messages.push(unmarshall(pending.subarray(0, all), { returnBigInt: true, plainValues: true }));
    }
    return messages;
  }

  #keep(bytes: Buffer): void {
    const rest = bytes.subarray(this.#passing);
    this.#passing -= bytes.length - rest.length;
    if (rest.length === 0) return;
    this.#pieces.push(rest);
    this.#length += rest.length;
  }

  /**
   * The signal, found by the strings of its header, which are unambiguous: systemd's paths begin with /org/, and a member
   * has no slash. The length byte before a path may be a slash.
   */
  #signal(message: Buffer, { fields, header, isLittle }: Head): DBusMessage[] {
    const text = message.toString('latin1', HEAD_BYTES, HEAD_BYTES + fields);
    const member = this.#wanted.find((name) => text.includes(name));
    if (member === undefined) return [];
    const [path = ''] = /\/org\/[A-Za-z0-9_/]*/.exec(text) ?? [];
    return [{ type: SIGNAL, path, member: member.slice(0, -1), body: firstString(message.subarray(header), isLittle) }];
  }
}

/** D-Bus specification, "Marshaling (Wire Format)": its length, its bytes, a zero. */
function firstString(body: Buffer, isLittle: boolean): string[] {
  if (body.length < 4) return [];
  const end = 4 + (isLittle ? body.readUInt32LE(0) : body.readUInt32BE(0));
  return body[end] === 0 ? [body.toString('utf8', 4, end)] : [];
}

function headOf(bytes: Buffer): Head {
  const isLittle = bytes[0] === 0x6c;
  if (!isLittle && bytes[0] !== 0x42) throw new Error(`no D-Bus message: it begins with ${String(bytes[0])}`);
  const [body, fields] = isLittle ? [bytes.readUInt32LE(4), bytes.readUInt32LE(12)] : [bytes.readUInt32BE(4), bytes.readUInt32BE(12)];
  const header = HEAD_BYTES + Math.ceil(fields / 8) * 8;
  const all = header + body;
  const type = bytes[1] ?? 0;
  const isReply = type === RETURN || type === ERROR;
  if (all > (isReply ? AT_MOST_BYTES : MAX_MESSAGE_BYTES)) throw new Error(`a D-Bus message of ${String(all)} bytes`);
  const isRead = type === SIGNAL && fields <= MAX_SIGNAL_FIELDS_BYTES;
  const keptOfSignal = all <= SHORT_SIGNAL_BYTES ? all : isRead ? header : HEAD_BYTES;
  return { type, fields, header, isLittle, kept: isReply ? all : type === SIGNAL ? keptOfSignal : HEAD_BYTES, all };
}
