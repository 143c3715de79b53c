import { execFileSync } from 'node:child_process';
import { rmSync, statSync, statfsSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { native, type FilesystemReading, type FilesystemStats } from '../../src/native/index.js';
import { after, closing, makeDirectory, openDescriptors, runNode, thrownBy, threads, until } from './kernel.js';

const measure = (stats: FilesystemStats) =>
  new Promise<FilesystemReading>((settle) => {
    // A pending request does not keep the event loop alive, so this does.
    const alive = setInterval(() => undefined, 1000);
    stats.request(() => {
      clearInterval(alive);
      settle(stats.read());
    });
  });

const open = (path: string) => closing(new native.FilesystemStats(path));

/** Blocks the event loop: the answer arrives, and no callback runs. */
const awaitAnswer = (stats: FilesystemStats, sinceNs: bigint): void => {
  for (const end = Date.now() + 10_000; stats.read().atNs < sinceNs || stats.read().pending;) {
    if (Date.now() > end) throw new Error('no answer');
  }
};

test('a pending answer goes to the request that it belongs to, in order, despite later requests', async () => {
  const stats = open('/');
  const called: string[] = [];
  const asked = process.hrtime.bigint();
  for (const name of ['first', 'second']) {
    expect(stats.request(() => called.push(name))).toBe(true);
    awaitAnswer(stats, asked);
  }
  expect(stats.request(() => called.push('third'))).toBe(true);
  expect(called).toEqual([]);
  await until('the third', () => called.includes('third'));
  expect(called).toEqual(['first', 'second', 'third']);
});

test('before the first request there is no value', () => {
  expect(open('/').read()).toEqual({
    totalBytes: 0,
    freeBytes: 0,
    availableBytes: 0,
    inodes: 0,
    inodesFree: 0,
    fsType: 0,
    device: 0n,
    errno: 0,
    atNs: 0n,
    pending: false,
    pendingSinceNs: 0n,
  });
});

test('bytes, inodes, type and device are those of statfs and stat', async () => {
  // A small filesystem of its own: no other program writes there between the readings.
  const directory = makeDirectory();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,nr_inodes=1000', 'evictd-test', directory]);
  after(() => void execFileSync('umount', [directory]));
  writeFileSync(join(directory, 'file'), Buffer.alloc(1 << 20));
  const before = process.hrtime.bigint();
  const reading = await measure(open(directory));
  const { type, bsize, blocks, bfree, bavail, files, ffree } = statfsSync(directory);
  expect(reading).toMatchObject({
    totalBytes: blocks * bsize,
    freeBytes: bfree * bsize,
    availableBytes: bavail * bsize,
    inodes: files,
    inodesFree: ffree,
    fsType: type,
    device: statSync(directory, { bigint: true }).dev,
    errno: 0,
    pending: false,
  });
  expect(reading).toMatchObject({ totalBytes: 8 << 20, availableBytes: 7 << 20, inodes: 1000, inodesFree: 998 });
  expect(reading.atNs).toBeGreaterThan(before);
  expect(reading.atNs).toBeLessThan(process.hrtime.bigint());
});

test('the inodes are those of stat -f', async () => {
  const { inodes } = await measure(open('/'));
  expect(inodes).toBe(Number(execFileSync('stat', ['-f', '-c', '%c', '/'], { encoding: 'utf8' })));
});

test('a filesystem without inodes has 0 of 0', async () => {
  expect(await measure(open('/proc'))).toMatchObject({ inodes: 0, inodesFree: 0, errno: 0 });
});

test('a missing path is ENOENT in the reading, and is read once it exists', async () => {
  const path = join(makeDirectory(), 'late');
  const stats = open(path);
  expect(await measure(stats)).toMatchObject({ errno: constants.errno.ENOENT, totalBytes: 0, inodes: 0 });
  writeFileSync(path, '');
  expect(await measure(stats)).toMatchObject({ errno: 0 });
  rmSync(path);
  expect(await measure(stats)).toMatchObject({ errno: constants.errno.ENOENT, totalBytes: 0 });
});

test('a request during a pending one has no effect', async () => {
  const stats = open('/');
  const called: string[] = [];
  const before = process.hrtime.bigint();
  stats.request(() => called.push('first'));
  const { pending, pendingSinceNs } = stats.read();
  // The thread may have answered already; the answer is passed on only when JavaScript returns to its loop.
  if (pending) {
    expect(pendingSinceNs).toBeGreaterThan(before);
    stats.request(() => called.push('second'));
  }
  await until('an answer', () => called.length > 0);
  await until('no other', () => !stats.read().pending);
  expect(called[0]).toBe('first');
});

test('after close() during a request the late answer is dropped, and the thread and all descriptors end', async () => {
  const [before, descriptors] = [threads(), openDescriptors()];
  let called = 0;
  for (let i = 0; i < 200; i++) {
    const stats = new native.FilesystemStats('/');
    stats.request(() => called++);
    stats.close();
    stats.close();
    expect(stats.read()).toMatchObject({ pending: false });
    expect(thrownBy(() => stats.request())).toMatchObject({ code: 'EBADF', syscall: 'statfs' });
  }
  await until('the threads end', () => threads() <= before);
  expect(called).toBe(0);
  await until('no descriptor stays', () => openDescriptors() <= descriptors);
});

test('an instance without references ends its thread', async () => {
  const { output } = await runNode(`
    const threads = () => fs.readdirSync('/proc/self/task').length;
    const before = threads();
    (() => { for (let i = 0; i < 50; i++) new native.FilesystemStats('/').request(); })();
    const started = threads() - before;
    const look = () => {
      gc();
      if (threads() <= before) console.log(started, 'ended');
      else setTimeout(look, 10);
    };
    look();
  `);
  expect(output).toBe('1 ended');
});

test('a pending request does not keep the process alive', async () => {
  expect(await runNode("new native.FilesystemStats('/').request(() => {}); console.log('end');")).toEqual({ status: 0, output: 'end' });
});
