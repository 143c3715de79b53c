import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native, type DirectoryUsageResult, type EmptyingOrder, type EmptyingResult } from '../../src/native/index.js';
import { loopFilesystem, loopWorks } from '../support/loop-filesystem.js';
import { after, closing, makeCgroup, memoryV1, hasMemoryV1, cgroup2, openDescriptors, pause, until } from './kernel.js';

const { ELOOP, ENOENT, ENOTDIR, EPERM, EXDEV } = constants.errno as Record<string, number>;
const MINUTES_MS = 600_000;

/** Where nobody else can put anything, which cannot be said of /tmp. */
function scene(): { home: string; own: string; elsewhere: string; sentinel: string } {
  const home = mkdtempSync('/mnt/evictd-test-');
  after(() => {
    spawnSync('chattr', ['-R', '-i', home]);
    spawnSync('rm', ['-rf', '--one-file-system', home]); // deeper than rmSync can go
  });
  const [own, elsewhere] = [join(home, 'own'), join(home, 'elsewhere')];
  for (const directory of [own, elsewhere]) mkdirSync(directory);
  const sentinel = join(elsewhere, 'sentinel');
  writeFileSync(sentinel, 'stays');
  return { home, own, elsewhere, sentinel };
}

function orderOf(path: string, more: Partial<EmptyingOrder> = {}): EmptyingOrder {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, device: dev, inode: ino, cgroups: [], withinMs: MINUTES_MS, ...more };
}

async function finished(order: EmptyingOrder): Promise<EmptyingResult> {
  let result: EmptyingResult | undefined;
  closing(new native.DirectoryEmptying(order, (found) => (result = found)));
  await until('it is over', () => result !== undefined, MINUTES_MS);
  return result as unknown as EmptyingResult;
}

async function measured(path: string): Promise<DirectoryUsageResult> {
  let result: DirectoryUsageResult | undefined;
  closing(new native.DirectoryUsage(path, (found) => (result = found)));
  await until('it is measured', () => result !== undefined);
  return result as unknown as DirectoryUsageResult;
}

function mounted(...args: readonly string[]): void {
  const directory = args.at(-1) ?? '';
  execFileSync('mount', args);
  after(() => void execFileSync('umount', ['-l', directory]));
}

describe('a directory is emptied', () => {
  test('of all that is in it, and what that gave back is what it took; it stays, and so does what its links lead to', async () => {
    const { own, elsewhere, sentinel } = scene();
    for (const name of ['a', 'a/b', 'c']) mkdirSync(join(own, name));
    writeFileSync(join(own, 'a/file'), Buffer.alloc(100_000));
    linkSync(join(own, 'a/file'), join(own, 'c/same'));
    writeFileSync(join(own, 'a/b/sparse'), 'x');
    truncateSync(join(own, 'a/b/sparse'), 2 ** 40);
    execFileSync('mkfifo', [join(own, 'fifo')]);
    symlinkSync(elsewhere, join(own, 'outside'));
    symlinkSync(sentinel, join(own, 'a/file-outside'));
    symlinkSync('..', join(own, 'c/up'));
    const before = statSync(own).ino;
    const taken = await measured(own);
    const self = statSync(own).blocks * 512;
    expect(await finished(orderOf(own))).toEqual({
      end: 'done',
      errno: 0,
      bytes: taken.bytes - self,
      inodes: taken.inodes - 1,
      failed: 0,
      failures: [],
    });
    expect([readdirSync(own), statSync(own).ino, existsSync(sentinel)]).toEqual([[], before, true]);
  });

  test('a file that has another name elsewhere loses one and gives nothing back', async () => {
    const { own, sentinel } = scene();
    linkSync(sentinel, join(own, 'name'));
    expect(await finished(orderOf(own))).toMatchObject({ end: 'done', bytes: 0, inodes: 0, failed: 0 });
    expect([readdirSync(own), existsSync(sentinel)]).toEqual([[], true]);
  });

  test('whatever the names are', async () => {
    const { own } = scene();
    const names = ['line\nbreak', '-rf', ' ', '*', "'", '"', '.hidden', '...'].map((name) => Buffer.from(name));
    for (const name of [...names, Buffer.from([0xff, 0xfe, 0x80])]) writeFileSync(Buffer.concat([Buffer.from(`${own}/`), name]), '');
    expect(await finished(orderOf(own))).toMatchObject({ end: 'done', inodes: 9, failed: 0 });
    expect(readdirSync(own)).toEqual([]);
  });

  test('5000 levels deep, with few descriptors, and 20000 names wide', async () => {
    const { own } = scene();
    mounted('-t', 'tmpfs', '-o', 'mode=755', 'evictd-test', own);
    const script = 'for (1 .. 5000) { mkdir("d") or die $!; chdir("d") or die $! } open(my $f, ">", "last") or die $!';
    execFileSync('perl', ['-e', script], { cwd: own });
    const wide = 'open(my $f, ">", "file-$_") or die $! for 1 .. 20000';
    execFileSync('perl', ['-e', wide], { cwd: own });
    const descriptors = openDescriptors();
    let result: EmptyingResult | undefined;
    closing(new native.DirectoryEmptying(orderOf(own), (found) => (result = found)));
    let most = 0;
    await until(
      'it is over',
      () => {
        most = Math.max(most, openDescriptors());
        return result !== undefined;
      },
      MINUTES_MS,
    );
    expect(result).toMatchObject({ end: 'done', inodes: 25_001, failed: 0 });
    expect(readdirSync(own)).toEqual([]);
    expect(most - descriptors).toBeLessThan(64);
  });

  test('what is mounted below is neither entered nor removed, also where it is of the same filesystem, a file, or a loop', async () => {
    const { home, own, elsewhere, sentinel } = scene();
    for (const name of ['bind', 'tmpfs', 'goes', 'around']) mkdirSync(join(own, name));
    for (const name of ['file', 'goes/too']) writeFileSync(join(own, name), '');
    mounted('--bind', elsewhere, join(own, 'bind'));
    mounted('--bind', sentinel, join(own, 'file'));
    mounted('--bind', home, join(own, 'around'));
    mounted('-t', 'tmpfs', '-o', 'mode=755', 'evictd-test', join(own, 'tmpfs'));
    writeFileSync(join(own, 'tmpfs/stays'), '');
    const { failures, ...result } = await finished(orderOf(own));
    expect(result).toMatchObject({ end: 'done', inodes: 2, failed: 4 });
    const kept = ['around', 'bind', 'file', 'tmpfs'];
    expect([...failures].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(kept.map((name) => ({ name, errno: EXDEV })));
    expect([readdirSync(own).sort(), existsSync(sentinel), readdirSync(join(own, 'tmpfs'))]).toEqual([kept, true, ['stays']]);
  });

  test.runIf(loopWorks())('a filesystem in a file below it stays (where loop devices are)', async () => {
    const { own } = scene();
    const loop = loopFilesystem();
    after(() => {
      loop.remove();
    });
    loop.mount();
    mkdirSync(join(own, 'disk'));
    mounted('--bind', loop.directory, join(own, 'disk'));
    writeFileSync(join(own, 'disk/stays'), '');
    expect(await finished(orderOf(own))).toMatchObject({ end: 'done', failed: 1, failures: [{ name: 'disk', errno: EXDEV }] });
    expect(readdirSync(join(own, 'disk'))).toContain('stays');
  });

  test('what cannot be removed is named, with where it is, and the rest goes', async ({ skip }) => {
    const { own } = scene();
    mkdirSync(join(own, 'a/b'), { recursive: true });
    for (const name of ['a/b/held', 'a/b/goes', 'a/goes', 'z']) writeFileSync(join(own, name), '');
    if (spawnSync('chattr', ['+i', join(own, 'a/b/held')]).status !== 0) skip('no immutable files here');
    expect(await finished(orderOf(own))).toMatchObject({
      end: 'done',
      inodes: 3,
      failed: 1,
      failures: [{ name: 'a/b/held', errno: EPERM }],
    });
    expect([readdirSync(own), readdirSync(join(own, 'a')), readdirSync(join(own, 'a/b'))]).toEqual([['a'], ['b'], ['held']]);
  });
});

describe('nothing is removed', () => {
  test.each<[rule: string, make: (at: ReturnType<typeof scene>) => string, errno: number | undefined]>([
    [
      'a symbolic link stands in its place',
      ({ home, elsewhere }) => {
        symlinkSync(elsewhere, join(home, 'link'));
        return join(home, 'link');
      },
      ELOOP,
    ],
    [
      'a part of its path is a symbolic link',
      ({ home, elsewhere }) => {
        mkdirSync(join(elsewhere, 'own'));
        symlinkSync(elsewhere, join(home, 'link'));
        return join(home, 'link/own');
      },
      ELOOP,
    ],
    ['it is a file', ({ sentinel }) => sentinel, ENOTDIR],
    [
      'everybody can write to what it is in',
      ({ home, own }) => {
        execFileSync('chmod', ['1777', home]);
        return own;
      },
      EPERM,
    ],
    [
      'a group can write to what it is in',
      ({ home, own }) => {
        chownSync(home, 0, 12345);
        execFileSync('chmod', ['2775', home]);
        return own;
      },
      EPERM,
    ],
    [
      'root’s group can write to what it is in',
      ({ home, own }) => {
        execFileSync('chmod', ['775', home]);
        return own;
      },
      EPERM,
    ],
    [
      'it is another one’s, in a directory that is not root’s',
      ({ home, own }) => {
        chownSync(home, 12345, 12345);
        return own;
      },
      EPERM,
    ],
    [
      'its owner has all from there on',
      ({ home, own }) => {
        for (const directory of [home, own]) chownSync(directory, 12345, 12345);
        return own;
      },
      undefined,
    ],
  ])('where %s, unless it may be', async (_rule, make, errno) => {
    const at = scene();
    const path = make(at);
    writeFileSync(join(at.own, 'file'), '');
    const order = orderOf(path);
    const [result, usage] = [await finished(order), await measured(path)];
    expect(usage.obstacle === 0 ? undefined : usage.obstacle).toBe(errno === ENOTDIR ? undefined : errno);
    expect([result.end, result.errno || undefined]).toEqual([errno === undefined ? 'done' : 'refused', errno]);
    expect([existsSync(join(at.own, 'file')), existsSync(at.sentinel)]).toEqual([errno !== undefined, true]);
  });

  test('where another directory stands in its place, or none', async () => {
    const { own, elsewhere, sentinel } = scene();
    const order = orderOf(own);
    rmSync(own, { recursive: true });
    expect(await finished(order)).toMatchObject({ end: 'refused', errno: ENOENT });
    renameSync(elsewhere, own);
    expect(await finished(order)).toMatchObject({ end: 'replaced', inodes: 0 });
    expect(readdirSync(own)).toEqual([sentinel.split('/').at(-1)]);
  });

  test('of a directory that a mount hides', async () => {
    const { own, elsewhere, sentinel } = scene();
    const order = orderOf(own);
    mounted('--bind', elsewhere, own);
    expect(await finished(order)).toMatchObject({ end: 'replaced' });
    expect(existsSync(sentinel)).toBe(true);
  });

  test('where its mount is read-only, which is said when it is measured', async () => {
    const { own } = scene();
    writeFileSync(join(own, 'file'), '');
    mounted('--bind', own, own);
    execFileSync('mount', ['-o', 'remount,bind,ro', own]);
    expect(await measured(own)).toMatchObject({ obstacle: constants.errno.EROFS });
    expect(await finished(orderOf(own))).toMatchObject({ end: 'done', inodes: 0, failed: 1 });
  });

  test('without a time for it', async () => {
    const { own } = scene();
    writeFileSync(join(own, 'file'), '');
    expect(await finished(orderOf(own, { withinMs: 0 }))).toMatchObject({ end: 'late', inodes: 0 });
    expect(readdirSync(own)).toEqual(['file']);
  });

  test('while anybody lives in a cgroup, or below it; a cgroup that is not there is empty', async () => {
    const { own } = scene();
    writeFileSync(join(own, 'file'), '');
    const cgroup = makeCgroup(hasMemoryV1 ? memoryV1 : cgroup2);
    const child = join(cgroup, 'child');
    mkdirSync(child);
    const sleeper = spawn('sleep', ['1000']);
    after(() => void sleeper.kill('SIGKILL'));
    writeFileSync(join(child, 'cgroup.procs'), String(sleeper.pid));
    const order = orderOf(own, { cgroups: [join(cgroup, 'not-there'), cgroup] });
    expect(await finished(order)).toMatchObject({ end: 'populated', inodes: 0 });
    expect(readdirSync(own)).toEqual(['file']);
    const ended = new Promise((resolve) => sleeper.once('exit', resolve));
    sleeper.kill('SIGKILL');
    await ended;
    expect(await finished(order)).toMatchObject({ end: 'done', inodes: 1 });
  });
});

describe('while it is emptied', () => {
  /** Slow enough for somebody to come in between, without a bound on time: it goes on until it is found out. */
  const MANY = 'for my $d (1 .. 40) { mkdir "d$d" or die $!; for (1 .. 2000) { open(my $f, ">", "d$d/$_") or die $! } }';

  test('it ends where somebody comes to live in the cgroup', async () => {
    const { own } = scene();
    mounted('-t', 'tmpfs', '-o', 'mode=755', 'evictd-test', own);
    execFileSync('perl', ['-e', MANY], { cwd: own });
    const cgroup = makeCgroup(hasMemoryV1 ? memoryV1 : cgroup2);
    const sleeper = spawn('sleep', ['1000']);
    after(() => void sleeper.kill('SIGKILL'));
    const count = (): number => readdirSync(own).length;
    let result: EmptyingResult | undefined;
    closing(new native.DirectoryEmptying(orderOf(own, { cgroups: [cgroup] }), (found) => (result = found)));
    await until('some of it is gone', () => count() < 39 || result !== undefined);
    if (result === undefined) writeFileSync(join(cgroup, 'cgroup.procs'), String(sleeper.pid));
    await until('it is over', () => result !== undefined, MINUTES_MS);
    // On a machine that stops this process for as long as it takes to remove them all, there is nothing to be seen.
    expect(['populated', 'done']).toContain(result?.end);
    expect(count() === 0).toBe(result?.end === 'done');
  });

  test('whoever moves directories out and in never has anything removed outside', async () => {
    const { home, own, elsewhere, sentinel } = scene();
    const disk = join(home, 'disk');
    mkdirSync(disk);
    mounted('-t', 'tmpfs', '-o', 'mode=755', 'evictd-test', disk);
    const [inside, outside] = [join(disk, 'own'), join(disk, 'outside')];
    for (const directory of [inside, outside]) mkdirSync(directory);
    for (let n = 0; n < 50; n++) {
      writeFileSync(join(outside, `sentinel-${String(n)}`), '');
    }
    const mover = spawn(
      'perl',
      [
        '-e',
        'while (1) { rename("own/a/b", "outside/b") and rename("outside/b", "own/a/b"); rename("own/a", "outside/a") and rename("outside/a", "own/a"); }',
      ],
      { cwd: disk, stdio: 'ignore' },
    );
    after(() => void mover.kill('SIGKILL'));
    const ends = new Set<string>();
    for (let round = 0; round < 30; round++) {
      quietly(() => mkdirSync(join(inside, 'a/b/c'), { recursive: true }));
      for (let n = 0; n < 300; n++) quietly(() => writeFileSync(join(inside, `a/b/c/${String(n)}`), 'x'));
      ends.add((await finished(orderOf(inside))).end);
      await pause(1);
    }
    mover.kill('SIGKILL');
    expect(readdirSync(outside).filter((name) => name.startsWith('sentinel'))).toHaveLength(50);
    expect([...ends].every((end) => ['done', 'moved'].includes(end))).toBe(true);
    expect([existsSync(sentinel), existsSync(own), existsSync(elsewhere)]).toEqual([true, true, true]);
  });

  test('what is moved away is left alone from then on', async () => {
    const { home, own } = scene();
    mounted('-t', 'tmpfs', '-o', 'mode=755', 'evictd-test', home);
    mkdirSync(join(home, 'own/a'), { recursive: true });
    mkdirSync(join(home, 'safe'));
    execFileSync('perl', ['-e', MANY], { cwd: join(own, 'a') });
    let result: EmptyingResult | undefined;
    closing(new native.DirectoryEmptying(orderOf(own), (found) => (result = found)));
    const isIn = (): boolean => !existsSync(join(own, 'a/d1')) || !existsSync(join(own, 'a/d40'));
    await until('it is in it', () => result !== undefined || isIn());
    if (result === undefined) quietly(() => renameSync(join(own, 'a'), join(home, 'safe/a')));
    const left = existsSync(join(home, 'safe/a')) ? readdirSync(join(home, 'safe/a')).length : 0;
    await until('it is over', () => result !== undefined, MINUTES_MS);
    expect(['moved', 'done']).toContain(result?.end);
    // On a machine that keeps this process waiting it may have come to the end before.
    if (left > 1) expect(result?.end).toBe('moved');
  });

  test('it can be given up at any time', async () => {
    const { own } = scene();
    mounted('-t', 'tmpfs', '-o', 'mode=755', 'evictd-test', own);
    execFileSync('perl', ['-e', MANY], { cwd: own });
    const emptying = new native.DirectoryEmptying(orderOf(own), () => {
      throw new Error('it was closed');
    });
    emptying.close();
    emptying.close();
    const walkers = (): number =>
      readdirSync('/proc/self/task').filter((thread) => {
        try {
          return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8') === 'evictd-walk\n';
        } catch {
          return false; // it has ended meanwhile
        }
      }).length;
    await until('its thread has ended', () => walkers() === 0);
  });
});

test('an order that is none is refused', () => {
  const nothing = (): void => undefined;
  const order = { path: '/mnt', device: 1n, inode: 1n, cgroups: [], withinMs: 1 };
  for (const wrong of [{ path: '' }, { device: 1 }, { inode: -1n }, { cgroups: [1] }, { withinMs: -1 }]) {
    expect(() => new native.DirectoryEmptying({ ...order, ...wrong } as unknown as EmptyingOrder, nothing)).toThrow();
  }
});

/** What it needs may be moved away. */
function quietly(make: () => unknown): void {
  try {
    make();
  } catch {
    // it was moved away
  }
}
