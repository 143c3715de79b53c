import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BootFile } from '../../src/storage/boot-file.js';
import { scratch } from '../config/scratch.js';

test('a link that was planted beside the file is not followed', () => {
  const directory = scratch();
  const [path, other] = [join(directory, 'file'), join(directory, 'other')];
  writeFileSync(other, 'of another program');
  symlinkSync(other, `${path}.new`);
  new BootFile<{ readonly content: string }>(path, 'boot', 1).save({ content: 'x' });
  expect(readFileSync(other, 'utf8')).toBe('of another program');
  expect(new BootFile(path, 'boot', 1).load()).toEqual({ content: 'x' });
});
