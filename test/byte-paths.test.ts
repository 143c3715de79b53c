import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fsPath, namesIn, namesText, subdirectoriesIn } from '../src/byte-paths.js';
import { temporaryDirectory } from './support/temporary-directory.js';

const LEAK = 'leak\udcff';

function directory(): string {
  const made = temporaryDirectory();
  return made;
}

test('a directory may have names that are not UTF-8, and U+FFFD itself', () => {
  const above = directory();
  for (const name of [LEAK, 'ä', '\ufffd']) mkdirSync(fsPath(`${above}/${name}`));
  writeFileSync(fsPath(`${above}/${LEAK}/file\udc80`), 'x');
  writeFileSync(`${above}/file`, 'cgroup \u00e4');

  expect(namesIn(above).sort()).toEqual(['file', 'ä', '\ufffd', LEAK].sort());
  expect(subdirectoriesIn(above).sort()).toEqual(['ä', '\ufffd', LEAK].sort());
  expect(namesIn(`${above}/${LEAK}`)).toEqual(['file\udc80']);
  expect(subdirectoriesIn(`${above}/${LEAK}`)).toEqual([]);
  expect(readFileSync(fsPath(`${above}/${LEAK}/file\udc80`), 'utf8')).toBe('x');
});

test('a UTF-8 path is used unchanged', () => {
  expect(fsPath('/sys/fs/cgroup/ä')).toBe('/sys/fs/cgroup/ä');
});

test('text of the kernel keeps the bytes of names', () => {
  const file = `${directory()}/cgroup`;
  writeFileSync(file, Buffer.from('4:memory:/a\xff\n', 'latin1'));
  expect(namesText(file)).toBe('4:memory:/a\udcff\n');
});
