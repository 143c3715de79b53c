import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDirectory } from '../../../../src/host/linux/facts/directory-reader.js';
import { native } from '../../../../src/native/index.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

test('files of fixed size that do not exist yet, or have another size, need space', async () => {
  const path = temporaryDirectory();
  const keeps = [
    { name: 'ring', bytes: 4000 },
    { name: 'state', bytes: 200 },
  ];
  const toMake = async (at = path) => {
    const answer = await readDirectory(native, { path: at, writes: true, keeps });
    return answer.kind === 'there' ? answer.toMakeBytes : answer.error;
  };
  expect(await toMake(join(path, 'not-there'))).toBe(4200n);
  expect(await toMake()).toBe(4200n);
  writeFileSync(join(path, 'ring'), Buffer.alloc(4000));
  expect(await toMake()).toBe(200n);
  writeFileSync(join(path, 'state'), Buffer.alloc(200));
  expect(await toMake()).toBe(0n);
  truncateSync(join(path, 'ring'), 3999);
  expect(await toMake()).toBe(4000n);
});
