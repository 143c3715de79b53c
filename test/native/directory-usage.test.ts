import { execFileSync, spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native, type DirectoryUsageResult } from '../../src/native/index.js';
import { fuseWorks, mountFuse } from '../support/fuse.js';
import { addonFile, after, closing, makeDirectory, openDescriptors, pause, runNode, thrownBy, until } from './kernel.js';

const { EAGAIN, ENOENT, ENOTDIR } = constants.errno as Record<string, number>;

const works = await fuseWorks();

/** A walk to its end; `meanwhile` is called at each turn of the loop. */
async function walk(path: string, meanwhile: () => void = () => undefined): Promise<DirectoryUsageResult> {
  let result: DirectoryUsageResult | undefined;
  closing(new native.DirectoryUsage(path, (usage) => (result = usage)));
  for (const deadline = Date.now() + 60_000; result === undefined;) {
    meanwhile();
    await pause(1);
    if (Date.now() > deadline) throw new Error('the walk does not end');
  }
  return result;
}

/** As du says, on one filesystem. */
function du(path: string): { bytes: number; inodes: number } {
  const count = (...options: string[]) => Number.parseInt(execFileSync('du', ['-sx', ...options, path], { encoding: 'utf8' }), 10);
  return { bytes: count('--block-size=1'), inodes: count('--inodes') };
}

/** On a tmpfs, where a file is made in microseconds. */
function makeShm(): string {
  const directory = mkdtempSync('/dev/shm/evictd-test-');
  after(() => void spawnSync('rm', ['-rf', directory])); // deeper than rmSync can go
  return directory;
}

function mountTmpfs(directory: string): void {
  mkdirSync(directory);
  execFileSync('mount', ['-t', 'tmpfs', 'evictd-test', directory]);
  after(() => void execFileSync('umount', [directory]));
}

const nameOf = (thread: string): string => {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
};
const walkers = (): number => readdirSync('/proc/self/task').filter((thread) => nameOf(thread) === 'evictd-walk\n').length;

describe('the usage of a directory', () => {
  test('is that of du: blocks, inodes, hard links once, without targets of symbolic links and mounts below', async () => {
    const [directory, elsewhere] = [makeDirectory(), makeDirectory()];
    writeFileSync(join(elsewhere, 'large'), Buffer.alloc(1 << 20));
    for (const name of ['a', 'a/b', 'c']) mkdirSync(join(directory, name));
    writeFileSync(join(directory, 'a/file'), Buffer.alloc(100_000));
    writeFileSync(join(directory, 'a/b/sparse'), 'x');
    truncateSync(join(directory, 'a/b/sparse'), 1 << 30);
    for (const name of ['a/link', 'c/link', 'c/other']) linkSync(join(directory, 'a/file'), join(directory, name));
    symlinkSync(elsewhere, join(directory, 'c/outside'));
    symlinkSync('..', join(directory, 'c/loop'));
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    const before = du(directory);
    expect(await walk(directory)).toMatchObject({ ...before, errors: 0, errno: 0, complete: true });
    expect(before.inodes).toBe(9);
    mountTmpfs(join(directory, 'mounted'));
    writeFileSync(join(directory, 'mounted/file'), Buffer.alloc(1 << 20));
    expect(await walk(directory)).toMatchObject({ ...before, errors: 0, errno: 0, complete: true });
  });

  // qemu-user says that its statx has the id of the mount, and leaves it 0.
  const isEmulated = process.arch === 'arm64' && process.env.EVICTD_TEST_NODE !== undefined;

  test.skipIf(isEmulated)('is counted once, though the filesystem is mounted into itself', async () => {
    const directory = makeDirectory();
    for (const name of ['data', 'again']) mkdirSync(join(directory, name));
    writeFileSync(join(directory, 'data/file'), Buffer.alloc(1 << 20));
    const before = await walk(directory);
    execFileSync('mount', ['--bind', join(directory, 'data'), join(directory, 'again')]);
    after(() => void execFileSync('umount', [join(directory, 'again')]));
    expect((await walk(directory)).bytes).toBeLessThanOrEqual(before.bytes);
  });

  test('is read at any depth, with few descriptors', async () => {
    const directory = makeShm();
    const levels = 2000;
    // Relative: no path is so long. Files on both sides of the way down, so that each level has to be taken up again.
    const script = `for (let level = 0; level < ${String(levels)}; level++) {
      for (const name of ['a', 'b', 'y', 'z']) fs.writeFileSync(name, 'x');
      fs.mkdirSync('middle-of-nowhere');
      process.chdir('middle-of-nowhere');
    }`;
    execFileSync(process.execPath, ['-e', `const fs = require('fs'); process.chdir(${JSON.stringify(directory)}); ${script}`]);
    const before = openDescriptors();
    let most = 0;
    const usage = await walk(directory, () => (most = Math.max(most, openDescriptors())));
    expect(usage).toMatchObject({ bytes: levels * 4 * 4096, inodes: 1 + levels * 5, errors: 0, errno: 0, complete: true });
    expect(most - before).toBeLessThanOrEqual(40);
  });

  test.each<[rule: string, path: () => string, errno: number | undefined]>([
    ['does not exist', () => join(makeDirectory(), 'none'), ENOENT],
    ['is not a directory', () => '/proc/self/status', ENOTDIR],
  ])('is unknown if the directory %s', async (_rule, path, errno) => {
    expect(await walk(path())).toMatchObject({ bytes: 0, inodes: 0, errors: 1, errno, complete: false });
  });

  test('by a symbolic link is that of the target', async () => {
    const directory = makeDirectory();
    writeFileSync(join(directory, 'file'), 'x');
    const link = join(makeDirectory(), 'link');
    symlinkSync(directory, link);
    expect((await walk(link)).inodes).toBe(2);
  });

  test('is not an error if files disappear', async () => {
    const directory = makeShm();
    for (let file = 0; file < 20_000; file += 1) symlinkSync('x', join(directory, String(file)));
    let next = 0;
    const usage = await walk(directory, () => {
      for (let i = 0; i < 500 && next < 20_000; i += 1) unlinkSync(join(directory, String(next++)));
    });
    expect(usage).toMatchObject({ errors: 0, complete: true });
  });

  test('with a hundred thousand files is read without blocking JavaScript', async () => {
    const directory = makeShm();
    for (let part = 0; part < 10; part += 1) {
      mkdirSync(join(directory, String(part)));
      for (let file = 0; file < 10_000; file += 1) symlinkSync('x', join(directory, String(part), String(file)));
    }
    let turns = 0;
    const usage = await walk(directory, () => (turns += 1));
    expect(usage).toMatchObject({ bytes: 0, inodes: 100_011, errors: 0, errno: 0, complete: true });
    expect(turns).toBeGreaterThan(10);
  });
});

describe('a walk of a directory', () => {
  test('that is closed has no callback, and its thread ends', async () => {
    let called = 0;
    for (let i = 0; i < 20; i += 1) {
      const usage = new native.DirectoryUsage('/usr', () => (called += 1));
      usage.close();
      usage.close();
      await until('the thread ends', () => walkers() === 0);
    }
    expect(called).toBe(0);
  });

  test('may be closed in its callback', async () => {
    const directory = makeDirectory();
    let called = 0;
    const usage = new native.DirectoryUsage(directory, () => {
      usage.close();
      called += 1;
    });
    await until('the walk is done', () => called === 1);
  });

  test('keeps neither the process alive, nor delays its end or that of a worker', async () => {
    const script = "new native.DirectoryUsage('/usr', () => {});";
    expect(await runNode(script)).toEqual({ status: 0, output: '' });
    expect(await runNode(`${script} process.exit(3);`)).toEqual({ status: 3, output: '' });
    expect(await runNode(`${script} native.exitNow(4);`)).toEqual({ status: 4, output: '' });
    const inWorker = `const native = require(${JSON.stringify(addonFile)}); ${script} require('node:worker_threads').parentPort.postMessage(0); setInterval(() => {}, 1000);`;
    const terminating = `
      const worker = new (require('node:worker_threads').Worker)(${JSON.stringify(inWorker)}, { eval: true });
      worker.on('message', () => worker.terminate());
      worker.on('exit', () => (process.exitCode = 5));`;
    expect(await runNode(terminating)).toEqual({ status: 5, output: '' });
  });

  test('without a callback is a TypeError', () => {
    expect(thrownBy(() => new native.DirectoryUsage('/', undefined as never))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });

  test.runIf(works)('is not delayed by a mount below it that hangs (where FUSE can be mounted)', async () => {
    const directory = makeDirectory();
    const mounted = join(directory, 'mounted');
    mkdirSync(mounted);
    const fuse = await mountFuse(mounted);
    after(() => fuse.remove());
    await fuse.hang('unanswered');
    expect(await walk(directory)).toMatchObject({ inodes: 1, errors: 0, complete: true });
  });

  test.runIf(works)('that hangs is given up; after 16 no more walks of it begin, but others do (where FUSE can be mounted)', async () => {
    await until('the threads of others end', () => walkers() === 0);
    const fuse = await mountFuse();
    after(() => fuse.remove());
    await fuse.hang('unanswered');
    for (let i = 0; i < 16; i += 1) new native.DirectoryUsage(fuse.directory, () => undefined).close();
    expect(thrownBy(() => new native.DirectoryUsage('/usr', () => undefined))).toMatchObject({
      code: 'EAGAIN',
      errno: -(EAGAIN ?? 0),
      path: '/usr',
    });
    expect(walkers()).toBe(16);
    let isKnown = false;
    closing(new native.DeletedFiles('/', () => (isKnown = true)));
    await until('what is held in deleted files is known all the same', () => isKnown);
    fuse.abort();
    await until('they end', () => walkers() === 0);
    expect(await walk(makeDirectory())).toMatchObject({ complete: true });
  });
});
