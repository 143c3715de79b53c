import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { native, type DeletedFilesResult } from '../../src/native/index.js';
import { after, closing, makeDirectory, runNode, thrownBy, until } from './kernel.js';

async function search(path: string): Promise<DeletedFilesResult> {
  let found: DeletedFilesResult | undefined;
  closing(new native.DeletedFiles(path, (result) => (found = result)));
  await until('the walk is done', () => found !== undefined);
  return found as unknown as DeletedFilesResult;
}

const mine = ({ groups }: DeletedFilesResult): number =>
  groups.filter(({ pids }) => pids.length === 1 && pids[0] === process.pid).reduce((sum, { bytes }) => sum + bytes, 0);

test('a deleted file that a process holds open is found, with its holders', async () => {
  const directory = makeDirectory();
  const file = join(directory, 'held');
  const held = openSync(file, 'w');
  after(() => {
    closeSync(held);
  });
  writeSync(held, Buffer.alloc(1 << 20, 'x'));
  fsyncSync(held); // until then its blocks may not be counted
  const before = mine(await search(directory));
  unlinkSync(file);
  const found = await search(directory);
  expect(mine(found) - before).toBeGreaterThanOrEqual(1 << 20);
  expect(found.complete).toBe(true);
});

test('a filesystem that does not exist has an incomplete answer', async () => {
  expect(await search('/nowhere/at/all')).toEqual({ groups: [], unreadable: 0, complete: false, device: 0n });
});

test('after close() there is no callback, the reader does not keep the process alive, and a wrong argument is a TypeError', async () => {
  let called = 0;
  const given = new native.DeletedFiles('/', () => (called += 1));
  given.close();
  given.close();
  await search('/');
  expect(called).toBe(0);
  expect(await runNode("new native.DeletedFiles('/', () => {});")).toEqual({ status: 0, output: '' });
  expect(thrownBy(() => new native.DeletedFiles(1 as never, () => undefined))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  expect(thrownBy(() => new native.DeletedFiles('/', undefined as never))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
});
