import { marshall } from 'dbus-native/lib/message.js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { MessageReader } from '../../../../src/host/linux/systemd/message-reader.js';

const PATH = '/org/freedesktop/login1';
const MIB = 1024 * 1024;
const PIECE = 64 * 1024;

const signal = (bodyBytes: number, path = PATH) =>
  marshall({ type: 4, serial: 1, path, interface: 'a.b', member: 'Changed', signature: 's', body: ['x'.repeat(bodyBytes)] });
const reported = { type: 4, path: PATH, member: 'Changed' };
const answer = (text: string) => marshall({ type: 2, serial: 1, replySerial: 1, signature: 's', body: [text] });
const answered = (text: string) => expect.objectContaining({ type: 2, body: [text] }) as unknown;

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

function read(bytes: Buffer, size: number): unknown[] {
  const reader = new MessageReader(['Changed']);
  return pieces(bytes, size).flatMap((piece) => reader.push(piece));
}

describe('messages that arrive in parts are read', () => {
  const all = Buffer.concat([signal(20), answer('one'), signal(0), signal(3), answer('two')]);
  test.each([1, 7, 16, 17, 100, all.length])('of %i bytes', (size) => {
    expect(read(all, size)).toEqual([reported, answered('one'), reported, reported, answered('two')]);
  });
});

test('a signal is delivered with its header, and its body is skipped', () => {
  const reader = new MessageReader(['Changed']);
  const bytes = signal(2 * MIB);
  expect(reader.push(bytes.subarray(0, 512))).toEqual([reported]);
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => {
    concat.mockRestore();
  });
  expect(pieces(bytes.subarray(512), PIECE).flatMap((piece) => reader.push(piece))).toEqual([]);
  expect(concat).not.toHaveBeenCalled();
  expect(reader.push(answer('next'))).toEqual([answered('next')]);
});

test.each<[what: string, bytes: Buffer, expected: readonly unknown[]]>([
  ['a signal that is larger than what is kept', signal(17 * MIB), [reported]],
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
