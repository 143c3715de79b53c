import { marshall } from 'dbus-native/lib/message.js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { MessageReader } from '../../../../src/host/linux/systemd/message-reader.js';

const PATH = '/org/freedesktop/login1';
const MIB = 1024 * 1024;
const PIECE = 64 * 1024;

const signal = (bodyBytes: number, path = PATH) =>
  marshall({ type: 4, serial: 1, path, interface: 'a.b', member: 'Changed', signature: 's', body: ['x'.repeat(bodyBytes)] });
const reported = (...body: readonly string[]) => ({ type: 4, path: PATH, member: 'Changed', body });
const answer = (text: string) => marshall({ type: 2, serial: 1, replySerial: 1, signature: 's', body: [text] });
const answered = (text: string) => expect.objectContaining({ type: 2, body: [text] }) as unknown;

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

function read(bytes: Buffer, size: number): unknown[] {
  const reader = new MessageReader(['Changed']);
  return pieces(bytes, size).flatMap((piece) => reader.push(piece));
}

test.each<[what: string, signature: string, body: readonly unknown[], first: readonly string[]]>([
  ['a name and a path', 'so', ['a@b\\x2d.service', '/org/a'], ['a@b\\x2d.service']],
  ['a number', 'u', [7], []],
  ['a number that could be a length', 'uu', [4, 1], []],
  ['nothing', '', [], []],
])('of a signal whose body is %s', (_what, signature, body, first) => {
  const bytes = marshall({ type: 4, serial: 1, path: PATH, interface: 'a.b', member: 'Changed', signature, body: [...body] });
  expect(read(bytes, 7)).toEqual([reported(...first)]);
});

test('of a signal the first string is read in either byte order', () => {
  const fields = Buffer.from('\x01\x01o\0\0\0\0\x04/org\0\0\0\0\x03\x01s\0\0\0\0\x07Changed\0', 'latin1');
  const head = Buffer.from([0x42, 4, 0, 1, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, fields.length]);
  const body = Buffer.from('\0\0\0\x01a\0', 'latin1');
  expect(read(Buffer.concat([head, fields, Buffer.alloc((8 - (fields.length % 8)) % 8), body]), 64)).toMatchObject([{ body: ['a'] }]);
});

describe('messages that arrive in parts are read', () => {
  const all = Buffer.concat([signal(20), answer('one'), signal(0), signal(3), answer('two')]);
  test.each([1, 7, 16, 17, 100, all.length])('of %i bytes', (size) => {
    expect(read(all, size)).toEqual([reported('x'.repeat(20)), answered('one'), reported(''), reported('xxx'), answered('two')]);
  });
});

test('a signal with a long body is delivered with its header, and its body is skipped', () => {
  const reader = new MessageReader(['Changed']);
  const bytes = signal(2 * MIB);
  expect(reader.push(bytes.subarray(0, 512))).toEqual([reported()]);
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => {
    concat.mockRestore();
  });
  expect(pieces(bytes.subarray(512), PIECE).flatMap((piece) => reader.push(piece))).toEqual([]);
  expect(concat).not.toHaveBeenCalled();
  expect(reader.push(answer('next'))).toEqual([answered('next')]);
});

test.each<[what: string, bytes: Buffer, expected: readonly unknown[]]>([
  ['a signal that is larger than what is kept', signal(17 * MIB), [reported()]],
  ['a signal with a header that none of systemd has', signal(0, `${PATH}/${'a'.repeat(MIB)}`), []],
  ['a call', marshall({ type: 1, serial: 1, path: PATH, interface: 'a.b', member: 'Changed' }), []],
])('%s does not end the connection', (_what, bytes, expected) => {
  expect(read(Buffer.concat([bytes, answer('next')]), PIECE)).toEqual([...expected, answered('next')]);
});

test('a large reply is copied a few times, not once for each of its parts', () => {
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => {
    concat.mockRestore();
  });
  const text = 'x'.repeat(8 * MIB);
  const bytes = answer(text);
  concat.mockClear();
  expect(read(bytes, PIECE)).toEqual([answered(text)]);
  const copied = concat.mock.results.map(({ value }) => (value as Buffer).length);
  expect(copied.reduce((sum, length) => sum + length, 0)).toBeLessThan(4 * bytes.length);
});

test('a reply that is too long is refused', () => {
  const bytes = answer('');
  bytes.writeUInt32LE(17 * MIB, 4);
  expect(() => new MessageReader([]).push(bytes)).toThrow('a D-Bus message of');
});
