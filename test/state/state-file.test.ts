import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StateFile, type FoundState } from '../../src/state/state-file.js';
import { fullFilesystem } from '../support/full-filesystem.js';

const SLOT = 128;
const HEADER = 24;
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-state-'));
  path = join(directory, 'state');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Opens the file as the next process does. */
function found(slotBytes = SLOT): FoundState {
  const file = new StateFile(path, slotBytes);
  file.close();
  return file.found;
}

function written(...texts: string[]): void {
  const file = new StateFile(path, SLOT);
  for (const text of texts) file.write(text);
  file.close();
}

test('a new file has no text', () => {
  expect(found()).toEqual({ text: undefined, torn: 0 });
});

test.each<[texts: string[]]>([[['a']], [['a', 'b']], [['a', 'b', 'c']], [['', 'żółć', '']]])(
  'the last text of %j is read, however often the file is opened',
  (texts) => {
    written(...texts);
    expect(found()).toEqual({ text: texts.at(-1), torn: 0 });
    expect(found()).toEqual({ text: texts.at(-1), torn: 0 });
  },
);

test('the file has its full size and its pages from the start', () => {
  const file = new StateFile(path, 64 * 1024);
  expect(statSync(path).size).toBe(128 * 1024);
  expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(128 * 1024);
  file.close();
});

test.each<[rule: string, length: number]>([
  ['shorter than the one that it replaces', 4],
  ['as long as the one that it replaces', 20],
  ['longer', 60],
])('a write that is cut off at any byte of a text that is %s leaves the text before', (_rule, length) => {
  const [older, before, next] = ['o'.repeat(20), 'before', 'n'.repeat(length)];
  written(older, before);
  const base = readFileSync(path);
  written(next);
  const whole = readFileSync(path);
  rmSync(path);
  const target = whole.includes(next, SLOT) ? SLOT : 0;
  expect(base.includes(older, target)).toBe(true); // the slot of the older text
  const record = whole.subarray(target, target + HEADER + length);
  const outcomes = new Map<string, number>();
  for (let bytes = 0; bytes <= record.length; bytes += 1) {
    const cut = Buffer.from(base);
    record.copy(cut, target, 0, bytes);
    writeFileSync(path, cut);
    const { text, torn } = found();
    rmSync(path);
    if (bytes === record.length) {
      expect({ text, torn }).toEqual({ text: next, torn: 0 });
    } else {
      expect(text).toBe('before');
      const kind = torn === 1 ? 'torn' : 'as before';
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
    }
  }
  expect(outcomes.get('torn')).toBeGreaterThanOrEqual(length); // the magic number and the first bytes of the sequence number are unchanged
});

test('a changed byte anywhere in the newest text is detected', () => {
  written('older', 'newest');
  const base = readFileSync(path);
  const slot = base.includes('newest', SLOT) ? SLOT : 0;
  for (let at = 0; at < HEADER - 4 + 'newest'.length; at += 1) {
    const offset = slot + (at < HEADER - 4 ? at : at + 4); // 4 bytes of padding
    const damaged = Buffer.from(base);
    damaged[offset] = (damaged[offset] ?? 0) ^ 0xff;
    writeFileSync(path, damaged);
    expect(found()).toEqual({ text: 'older', torn: 1 });
    rmSync(path);
  }
});

test.each<[rule: string, content: Buffer, torn: number]>([
  ['empty', Buffer.alloc(0), 0],
  ['one byte', Buffer.from('x'), 0],
  ['zeros', Buffer.alloc(2 * SLOT), 0],
  ['something else', Buffer.alloc(2 * SLOT, 'garbage '), 2],
  ['cut off in the middle of a header', Buffer.alloc(30, 1), 0],
])('a file that is %s has no state, and becomes a state file', (_rule, content, torn) => {
  writeFileSync(path, content);
  expect(found()).toEqual({ text: undefined, torn });
  written('a');
  expect(found()).toEqual({ text: 'a', torn: 0 });
});

test('slots of another size, from another version, are read', () => {
  written('a', 'b');
  expect(found(1024)).toEqual({ text: 'b', torn: 0 });
  expect(statSync(path).size).toBe(2048);
});

test('a text that does not fit is refused, and the text before stays', () => {
  const file = new StateFile(path, SLOT);
  file.write('a');
  expect(file.fits('x'.repeat(SLOT - HEADER))).toBe(true);
  expect(file.fits('ż'.repeat(SLOT - HEADER))).toBe(false);
  expect(() => file.write('x'.repeat(SLOT - HEADER + 1))).toThrow(RangeError);
  file.close();
  expect(found().text).toBe('a');
});

test('a link at the path of the new file is not followed', () => {
  const other = join(directory, 'other');
  writeFileSync(other, 'untouched');
  symlinkSync(other, `${path}.new`);
  written('a');
  expect(readFileSync(other, 'utf8')).toBe('untouched');
});

test.each<[texts: string[]]>([[['oldest', 'older', 'newer']], [['older', 'newer']]])(
  'after %j opening an existing file changes nothing, and the next text replaces the older one',
  (texts) => {
    written(...texts);
    const [{ ino }, content] = [statSync(path), readFileSync(path)];
    expect(found().text).toBe('newer');
    expect(statSync(path).ino).toBe(ino);
    expect(readFileSync(path).equals(content)).toBe(true);
    written('newest');
    expect(readFileSync(path, 'latin1')).toMatch(/newest.*newer|newer.*newest/s);
  },
);

describe('the state file on a full filesystem', () => {
  test('continues an existing file', () => {
    const full = fullFilesystem();
    path = join(full.directory, 'state');
    written('a', 'b');
    full.fill();
    expect(found()).toEqual({ text: 'b', torn: 0 });
    written('c');
    expect(found()).toEqual({ text: 'c', torn: 0 });
    expect(readdirSync(full.directory).sort()).toEqual(['filler', 'state']);
  });

  test('continues an existing file of another size, at that size', () => {
    const full = fullFilesystem();
    path = join(full.directory, 'state');
    written('a', 'b');
    full.fill();
    const file = new StateFile(path, 64 * 1024);
    expect(file.found.text).toBe('b');
    expect(file.fits('x'.repeat(SLOT))).toBe(false);
    file.write('c');
    file.close();
    expect(found()).toEqual({ text: 'c', torn: 0 });
    expect(statSync(path).size).toBe(2 * SLOT);
  });

  test('leaves no file behind if there is none, refuses a text with the reason, and is made when there is space', () => {
    const full = fullFilesystem();
    path = join(full.directory, 'state');
    full.fill();
    const file = new StateFile(path, 64 * 1024);
    expect(() => {
      file.write('a');
    }).toThrow('ENOSPC');
    file.retry();
    expect(() => {
      file.write('a');
    }).toThrow('ENOSPC');
    expect(readdirSync(full.directory)).toEqual(['filler']);
    full.free();
    file.retry();
    file.write('a');
    file.close();
    expect(found(64 * 1024).text).toBe('a');
  });
});
