import { statfsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import type { FilesystemReading, FilesystemStats } from '../../src/native/windows-binding.js';
import { eventually } from '../support/eventually.js';
import { native, thrownBy } from './native.js';

function open(path: string): FilesystemStats {
  const stats = new native.FilesystemStats(path);
  onTestFinished(() => {
    stats.close();
  });
  return stats;
}

function answer(stats: FilesystemStats): Promise<FilesystemReading> {
  return new Promise((resolve) => {
    const waiting = setInterval(() => undefined, 1_000); // a request does not keep the process alive
    stats.request(() => {
      clearInterval(waiting);
      resolve(stats.read());
    });
  });
}

test('capacity and available bytes of a volume are those that Node reads', async () => {
  const { bsize, blocks } = statfsSync('C:\\', { bigint: true });
  const reading = await answer(open('C:\\'));
  expect(reading).toMatchObject({ errno: 0, totalBytes: bsize * blocks, pending: false });
  expect(reading.availableBytes).toBeLessThanOrEqual(reading.freeBytes);
  expect(reading.freeBytes).toBeLessThan(reading.totalBytes);
});

test('no reading before the first answer; its time is the clock of hrtime', async () => {
  const stats = open('C:\\windows');
  expect(stats.read()).toMatchObject({ atNs: 0n, pending: false, pendingSinceNs: 0n });
  const before = process.hrtime.bigint();
  const reading = await answer(stats);
  expect(reading.atNs).toBeGreaterThan(before);
  expect(reading.atNs).toBeLessThanOrEqual(process.hrtime.bigint());
});

test('a request during another one is not started, a later one is', async () => {
  const stats = open('C:\\');
  const first = answer(stats);
  const again = stats.request();
  expect(again && stats.read().atNs === 0n).toBe(false); // a second one only where the first has been answered
  await first;
  await eventually('no request is pending', () => !stats.read().pending);
  expect((await answer(stats)).errno).toBe(0);
});

test.each<[rule: string, path: string, errno: number]>([
  ['is for a missing drive', 'Y:\\', 3],
  ['below a missing directory', 'C:\\evictd-nowhere\\below', 3],
  ['is for a missing directory (Wine: ERROR_FILE_NOT_FOUND, Windows: 3)', 'C:\\evictd-nowhere', 2],
])('the error number %s', async (_rule, path, errno) => {
  expect(await answer(open(path))).toMatchObject({ errno, totalBytes: 0n, availableBytes: 0n });
});

test('after close() the last reading stays, requests do nothing, and close() may be called again', async () => {
  const stats = open('C:\\');
  const { totalBytes } = await answer(stats);
  stats.close();
  stats.close();
  expect(stats.read()).toMatchObject({ totalBytes, pending: false });
  expect(thrownBy(() => stats.request())).toMatchObject({ code: 'ERROR_INVALID_HANDLE', syscall: 'GetDiskFreeSpaceEx' });
});

test('two instances for one path have separate answers', async () => {
  const [one, other] = [open('C:\\'), open('C:\\')];
  const [first, second] = await Promise.all([answer(one), answer(other)]);
  expect(first.totalBytes).toBe(second.totalBytes);
});

test('a worker may end during requests', async () => {
  for (let round = 0; round < 3; round++) {
    const worker = new Worker(
      `const native = require(${JSON.stringify(addonPath)});
       for (const path of ['C:\\\\', 'C:\\\\windows']) new native.FilesystemStats(path).request(() => undefined);
       process.exit(7);`,
      { eval: true },
    );
    expect(await once(worker, 'exit')).toEqual([7]);
  }
});

test.each([[[]], [[5]], [['a\0b']]])('%j is refused as a path', (args) => {
  expect(thrownBy(() => new native.FilesystemStats(...(args as [string])))).toBeInstanceOf(Error);
});
