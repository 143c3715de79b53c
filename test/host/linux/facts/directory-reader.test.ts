import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readDirectory } from '../../../../src/host/linux/facts/directory-reader.js';
import { native } from '../../../../src/native/index.js';

test('what the files of fixed size take that are not there yet, or are of another size', async () => {
  const path = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true });
  });
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
