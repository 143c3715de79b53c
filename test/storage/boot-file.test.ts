import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { BootFile } from '../../src/storage/boot-file.js';
import { scratch } from '../config/scratch.js';

const fileAt = (path: string) => new BootFile(path, 'boot', 1, () => z.object({ content: z.string() }));

test('a link that was planted beside the file is not followed', () => {
  const directory = scratch();
  const [path, other] = [join(directory, 'file'), join(directory, 'other')];
  writeFileSync(other, 'of another program');
  symlinkSync(other, `${path}.new`);
  fileAt(path).save({ content: 'x' });
  expect(readFileSync(other, 'utf8')).toBe('of another program');
  expect(fileAt(path).load()).toEqual({ content: 'x' });
});

test('a file with a content of another shape is not loaded, and the error names the place', () => {
  const path = join(scratch(), 'file');
  writeFileSync(path, '{"version":1,"bootId":"boot","content":[]}');
  expect(() => fileAt(path).load()).toThrow(`${path}: content: Invalid input`);
  writeFileSync(path, '{"version":1,"bootId":"another","content":[]}');
  expect(fileAt(path).load()).toBe('of another boot');
});
