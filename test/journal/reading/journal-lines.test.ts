import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linePieces } from '../../../src/journal/reading/journal-lines.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const MIB = 1024 * 1024;

async function read(content: string | Buffer, backwards: boolean, size?: number): Promise<{ lines: string[]; lost: number }> {
  const directory = temporaryDirectory();
  const path = join(directory, 'journal.jsonl');
  writeFileSync(path, content);
  const file = await open(path);
  try {
    const found: string[] = [];
    let lost = 0;
    for await (const piece of linePieces(file, size ?? (await file.stat()).size, backwards)) {
      found.push(...piece.lines.map((line) => line.toString()));
      lost += piece.lost;
    }
    return { lines: backwards ? found.reverse() : found, lost };
  } finally {
    await file.close();
  }
}

const zeros = (bytes: number): string => '\0'.repeat(bytes);
const long = (letter: string, bytes: number): string => letter.repeat(bytes);

test.each<[rule: string, content: string, lines: string[]]>([
  ['nothing', '', []],
  ['a line without an end', 'a', ['a']],
  ['several', 'a\nbc\nd\n', ['a', 'bc', 'd']],
  ['the last is being written', 'a\nb', ['a', 'b']],
  ['empty lines are skipped', '\n\na\n\n', ['a']],
  ['allocated space behind the lines is skipped', `a\nb\n${zeros(5000)}`, ['a', 'b']],
  ['a torn line before allocated space', `a\nb${zeros(5000)}`, ['a', 'b']],
  ['zeros that a lost write has left, and records behind them', `a\n${zeros(5000)}b\n`, ['a', 'b']],
  ['only zeros, in several blocks', zeros(3 * MIB), []],
  ['a record, zeros of several pieces, a record', `a\n${zeros(3 * MIB)}\nb\n`, ['a', 'b']],
  ['a line over the edge of a piece', `${long('x', MIB - 1)}\n${long('y', 10)}\nz\n`, [long('x', MIB - 1), long('y', 10), 'z']],
  ['a line that ends with a piece', `${long('x', MIB)}\ny\n`, [long('x', MIB), 'y']],
  ['a line of several pieces', `a\n${long('x', 3 * MIB)}\nb\n`, ['a', long('x', 3 * MIB), 'b']],
  ['a letter of several bytes over the edge', `${long('x', MIB - 1)}ä\nb\n`, [`${long('x', MIB - 1)}ä`, 'b']],
])('the lines are the same forwards and backwards: %s', async (_rule, content, lines) => {
  expect(await read(content, false)).toEqual({ lines, lost: 0 });
  expect(await read(content, true)).toEqual({ lines, lost: 0 });
});

test('any mixture of lengths is the same in both directions', async () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) % below;
  const lines = Array.from({ length: 400 }, (_, index) => `${String(index)} ${long('x', random(4) === 0 ? random(60_000) : random(100))}`);
  const content = lines.join('\n');
  expect(content.length).toBeGreaterThan(2 * MIB);
  expect((await read(content, false)).lines).toEqual(lines);
  expect((await read(content, true)).lines).toEqual(lines);
});

test.each([false, true])(
  'a file that is not a journal does not fill the memory: a line of 17 MiB is skipped and counted (backwards: %s)',
  async (backwards) => {
    const content = Buffer.concat([Buffer.from('a\n'), Buffer.alloc(17 * MIB, 'x'), Buffer.from('\nb\n')]);
    expect(await read(content, backwards)).toEqual({ lines: ['a', 'b'], lost: 1 });
  },
);

test('lines that are appended after the open are not read', async () => {
  expect(await read('a\nb\nc\n', false, 4)).toEqual({ lines: ['a', 'b'], lost: 0 });
  expect(await read('a\nb\nc\n', true, 4)).toEqual({ lines: ['a', 'b'], lost: 0 });
});
