import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Ring } from '../../src/monitor/ring.js';

const SIZE = 4096;
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-ring-'));
  path = join(directory, 'ring');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** What a process that died left: opened, written to, never closed in an orderly way. */
function left(write: (ring: Ring) => void): Ring['undrained'] {
  const ring = new Ring(path, SIZE);
  write(ring);
  ring.close();
  const next = new Ring(path, SIZE);
  next.close();
  return next.undrained;
}

test('a record stands in the file when append returns', () => {
  const ring = new Ring(path, SIZE);
  ring.append('{"type":"decision"}');
  expect(readFileSync(path).includes('{"type":"decision"}')).toBe(true);
  ring.close();
});

test('the file has its full size and its pages from the start, and never grows', () => {
  const ring = new Ring(path, 1 << 20);
  const before = statSync(path);
  expect(before.size).toBe(1 << 20);
  expect(before.blocks * 512).toBeGreaterThanOrEqual(1 << 20);
  for (let i = 0; i < 2000; i += 1) ring.append('x'.repeat(1000));
  expect(statSync(path).size).toBe(1 << 20);
  ring.close();
});

test('what was not drained comes back in order, what was does not', () => {
  const records = left((ring) => {
    ['a', 'b', 'c'].forEach((text) => {
      ring.append(text);
    });
    ring.drained(1n);
  });
  expect(records).toEqual([
    { sequence: 2n, text: 'b' },
    { sequence: 3n, text: 'c' },
  ]);
});

test('they are still there when the next process dies, too', () => {
  left((ring) => {
    ring.append('a');
  });
  const again = new Ring(path, SIZE);
  again.close();
  expect(again.undrained).toEqual([{ sequence: 1n, text: 'a' }]);
});

test('sequence numbers go on where they were', () => {
  left((ring) => {
    ring.append('a');
    ring.drained(1n);
  });
  const ring = new Ring(path, SIZE);
  expect(ring.undrained).toEqual([]);
  ring.append('b');
  expect(ring.sequence).toBe(2n);
  ring.close();
});

test('after wrapping the newest are there, each whole', () => {
  const records = left((ring) => {
    for (let i = 1; i <= 100; i += 1) ring.append(`record ${String(i)} ${'x'.repeat(i)}`);
  });
  expect(records.at(-1)).toEqual({ sequence: 100n, text: `record 100 ${'x'.repeat(100)}` });
  expect(records.length).toBeGreaterThan(10);
  for (const { sequence, text } of records) expect(text).toBe(`record ${String(sequence)} ${'x'.repeat(Number(sequence))}`);
});

test('a torn record is left out', () => {
  const ring = new Ring(path, SIZE);
  ring.append('first');
  ring.append('second');
  ring.close();
  const file = readFileSync(path);
  file.write('#', file.indexOf('second') + 2);
  writeFileSync(path, file);
  const next = new Ring(path, SIZE);
  next.close();
  expect(next.undrained).toEqual([{ sequence: 1n, text: 'first' }]);
});

test.each([
  ['empty', ''],
  ['shorter than a header', 'EV'],
  ['something else', 'x'.repeat(10_000)],
])('a file that is %s is started anew', (_rule, text) => {
  writeFileSync(path, text);
  const ring = new Ring(path, SIZE);
  expect(ring.undrained).toEqual([]);
  expect(statSync(path).size).toBe(SIZE);
  ring.close();
});

test('a record that does not fit says so', () => {
  const [record] = left((ring) => {
    ring.append(`{"type":"decision","ranking":"${'x'.repeat(SIZE)}"}`);
  });
  expect(JSON.parse(record?.text ?? '')).toMatchObject({ type: 'oversize', beginning: expect.stringContaining('decision') as string });
});
