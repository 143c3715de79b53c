import { linkSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Ring } from '../../src/journal/journal-ring.js';
import { fullFilesystem } from '../support/full-filesystem.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const SIZE = 4096;
/** Of the first record: the file's header has 64 bytes. */
const CHECKSUM_AT = 64 + 16;
let directory: string;
let path: string;

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, 'ring');
});

/** The file of a process that died without closing it. */
function left(write: (ring: Ring) => void): Ring['undrained'] {
  const ring = new Ring(path, SIZE);
  write(ring);
  ring.close();
  const next = new Ring(path, SIZE);
  next.close();
  return next.undrained;
}

test('a record is in the file when append returns', () => {
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

test('records that were not drained are read in order, and drained ones are not', () => {
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

test('records that were not drained outlast the end of the next process, too', () => {
  left((ring) => {
    ring.append('a');
  });
  const again = new Ring(path, SIZE);
  again.close();
  expect(again.undrained).toEqual([{ sequence: 1n, text: 'a' }]);
});

test('sequence numbers continue', () => {
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

test('after wrapping the newest records are there, each complete', () => {
  const records = left((ring) => {
    for (let i = 1; i <= 100; i += 1) ring.append(`record ${String(i)} ${'x'.repeat(i)}`);
  });
  expect(records.at(-1)).toEqual({ sequence: 100n, text: `record 100 ${'x'.repeat(100)}` });
  expect(records.length).toBeGreaterThan(10);
  for (const { sequence, text } of records) expect(text).toBe(`record ${String(sequence)} ${'x'.repeat(Number(sequence))}`);
});

// The mark of a record stands anywhere in its last bytes.
test.each([0, 1, 2, 3, 4, 5, 6, 7])('a torn record whose text has a mark at byte %i does not hide the next one', (at) => {
  const torn = `${'x'.repeat(at)}EREC`;
  left((ring) => {
    ring.append(torn);
    ring.append('whole');
  });
  const file = readFileSync(path);
  file.writeUInt8(file.readUInt8(CHECKSUM_AT) ^ 1, CHECKSUM_AT);
  writeFileSync(path, file);
  expect(left(() => undefined)).toEqual([{ sequence: 2n, text: 'whole' }]);
});

test('a torn record is skipped', () => {
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
  ['of another format', 'x'.repeat(10_000)],
])('a file that is %s is replaced by a new one', (_rule, text) => {
  writeFileSync(path, text);
  const ring = new Ring(path, SIZE);
  expect(ring.undrained).toEqual([]);
  expect(statSync(path).size).toBe(SIZE);
  ring.close();
});

test('a record that does not fit is refused', () => {
  const [record] = left((ring) => {
    ring.append(`{"type":"decision","ranking":"${'x'.repeat(SIZE)}"}`);
  });
  expect(JSON.parse(record?.text ?? '')).toMatchObject({ type: 'oversize', beginning: expect.stringContaining('decision') as string });
});

test('opening an existing file changes nothing, and a new record is written after the newest', () => {
  left((ring) => {
    ring.append('first');
    ring.append('second');
    ring.drained(1n);
  });
  const [{ ino }, content] = [statSync(path), readFileSync(path)];
  const ring = new Ring(path, SIZE);
  expect(statSync(path).ino).toBe(ino);
  expect(readFileSync(path).equals(content)).toBe(true);
  ring.append('third');
  ring.close();
  expect(readFileSync(path, 'latin1')).toMatch(/first.*second.*third/s);
  expect(left(() => undefined).map(({ text }) => text)).toEqual(['second', 'third']);
});

test('a run that is killed at any byte of any write leaves the records that were not drained, however many runs follow', () => {
  const texts = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, i) => `${String(from + i)} ${'x'.repeat(90)}`);
  left((ring) => {
    for (const text of texts(1, 60)) ring.append(text); // the ring has wrapped
    ring.drained(40n);
  });
  const before = readFileSync(path);
  left((ring) => {
    ring.append(texts(60, 61)[0] ?? '');
  });
  const after = readFileSync(path);
  const changed = [...before.keys()].filter((at) => before[at] !== after[at]);
  for (const end of changed) {
    const cut = Buffer.from(before);
    after.copy(cut, 0, 0, end);
    writeFileSync(path, cut);
    const again = left((ring) => {
      ring.append('once more');
    });
    expect(again.map(({ text }) => text)).toEqual([...texts(41, 60), 'once more']);
    expect(again.at(-1)?.sequence).toBe(60n);
  }
});

test('the oldest records are overwritten first, also those at the end of the file where a larger one did not fit', () => {
  const ring = new Ring(path, SIZE);
  // In the second lap a large record precedes the end, and leaves the last one of the first lap intact.
  for (let i = 0; i < 36; i += 1) ring.append(`small ${'x'.repeat(75)}`);
  for (let i = 0; i < 5; i += 1) ring.append(`large ${'x'.repeat(900)}`);
  ring.append('newest');
  ring.close();
  const next = new Ring(path, SIZE);
  next.close();
  const sequences = next.before.map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.map((_, i) => 42n - BigInt(sequences.length - 1 - i)));
});

test.each<[rule: string, damage: () => void]>([
  [
    'of another size',
    () => {
      new Ring(path, 2 * SIZE).close();
    },
  ],
  [
    'with a second name',
    () => {
      linkSync(path, join(directory, 'other'));
    },
  ],
  [
    'behind a link',
    () => {
      renameSync(path, join(directory, 'target'));
      symlinkSync('target', path);
    },
  ],
])('a file %s is replaced by a new one', (_rule, damage) => {
  left((ring) => {
    ring.append('a');
  });
  damage();
  const { ino } = statSync(path);
  const ring = new Ring(path, SIZE);
  ring.append('b');
  ring.close();
  expect(statSync(path)).toMatchObject({ size: SIZE, nlink: 1 });
  expect(statSync(path).ino).not.toBe(ino);
  expect(readdirSync(directory)).not.toContain('ring.new');
});

test('a file with holes is replaced by a new one, because writing to it would need space', () => {
  const size = 16 * SIZE;
  new Ring(path, size).close();
  const header = readFileSync(path).subarray(0, 64);
  writeFileSync(path, header);
  truncateSync(path, size);
  expect(statSync(path).blocks * 512).toBeLessThan(size);
  new Ring(path, size).close();
  expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(size);
});

describe('the ring on a full filesystem', () => {
  test('continues an existing file, with all records that the state directory does not have', () => {
    const full = fullFilesystem();
    path = join(full.directory, 'ring');
    left((ring) => {
      ring.append('a');
    });
    full.fill();
    expect(
      left((ring) => {
        ring.append('b');
      }).map(({ text }) => text),
    ).toEqual(['a', 'b']);
    expect(readdirSync(full.directory).sort()).toEqual(['filler', 'ring']);
  });

  test('continues an existing file of another size, at that size', () => {
    const full = fullFilesystem();
    path = join(full.directory, 'ring');
    left((ring) => {
      ring.append('a');
    });
    full.fill();
    const ring = new Ring(path, 4 * SIZE);
    expect(ring.problem).toBeUndefined();
    for (let i = 0; i < 100; i += 1) ring.append(`${String(i)} ${'x'.repeat(100)}`);
    ring.close();
    expect(statSync(path).size).toBe(SIZE);
    expect(left(() => undefined).at(-1)?.text).toMatch(/^99 /);
  });

  test('leaves no file behind if there is none, numbers records, and makes the file when there is space', () => {
    const full = fullFilesystem();
    path = join(full.directory, 'ring');
    full.fill();
    const ring = new Ring(path, SIZE);
    expect(ring.problem?.message).toContain('ENOSPC');
    ring.append('a');
    ring.drained(1n);
    ring.retry();
    expect(ring.problem).toBeDefined();
    expect(readdirSync(full.directory)).toEqual(['filler']);
    full.free();
    ring.retry();
    expect(ring.problem).toBeUndefined();
    ring.append('b');
    ring.close();
    expect(left(() => undefined)).toEqual([{ sequence: 2n, text: 'b' }]);
  });
});
