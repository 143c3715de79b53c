import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { rotatingFile } from '../../src/log/rotating-file.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

let path: string;

beforeEach(() => {
  const directory = temporaryDirectory();
  path = join(directory, 'evictd.log');
});

/** Writes one after the other, as a destination does; what each failed with. */
async function written(sink: ReturnType<typeof rotatingFile>, ...texts: readonly string[]): Promise<(string | undefined)[]> {
  const errors: (string | undefined)[] = [];
  for (const text of texts) {
    errors.push(
      await new Promise((resolve) => {
        sink(Buffer.from(text), (error) => {
          resolve(error?.message);
        });
      }),
    );
  }
  return errors;
}

const read = (name = path): string => readFileSync(name, 'utf8');

test('lines are appended while they fit, and then a new file is begun, with the old one as .1', async () => {
  await written(rotatingFile(path, 10), 'one\n');
  await written(rotatingFile(path, 10), 'two\n', 'ab\n');
  expect([read(`${path}.1`), read()]).toEqual(['one\ntwo\n', 'ab\n']);
});

test('a line that fits exactly is appended', async () => {
  await written(rotatingFile(path, 8), 'one\n', 'two\n');
  expect(read()).toBe('one\ntwo\n');
});

test('only the last old file is kept', async () => {
  await written(rotatingFile(path, 4), 'one\n', 'two\n', 'tri\n');
  expect([read(`${path}.1`), read()]).toEqual(['two\n', 'tri\n']);
});

test('a line longer than a file is kept whole', async () => {
  await written(rotatingFile(path, 4), 'longer\n');
  expect(read()).toBe('longer\n');
});

test('without its directory each write fails, and lines are kept when it exists', async () => {
  const directory = join(path, '..', 'later');
  const sink = rotatingFile(join(directory, 'evictd.log'));
  expect(await written(sink, 'lost\n')).toEqual([expect.stringContaining('ENOENT') as string]);
  mkdirSync(directory);
  expect(await written(sink, 'kept\n')).toEqual([undefined]);
  expect(read(join(directory, 'evictd.log'))).toBe('kept\n');
});
