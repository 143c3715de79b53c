import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { native, type CgroupTree } from '../../src/native/index.js';
import {
  addonFile,
  cgroup2,
  closing,
  hasCgroup2,
  hasMemoryV1,
  makeCgroup,
  makeDirectory,
  memoryV1,
  openDescriptors,
  pause,
  runNode,
  sleeps,
  thrownBy,
  until,
} from './kernel.js';
import { inotifyWatches as watchLines } from '../support/inotify.js';

const OVERFLOW = 1;
const GONE = { list: [], overflow: false, gone: true };

const changesOf = (tree: CgroupTree) => (tree.changes()?.list ?? []).map(({ kind, path }) => `${kind} ${path}`);

/** A tree without a callback. */
const quiet = (root: string) => closing(new native.CgroupTree(root));

const waking = (root: string) => {
  const wakes: { bits: number; detail: number }[] = [];
  const tree = closing(new native.CgroupTree(root, (bits, _atNs, detail) => wakes.push({ bits, detail })));
  return { tree, wakes };
};

const inotifyWatches = () => watchLines().length;
const watchOf = (directory: string) => watchLines().find((line) => line.includes(` ino:${statSync(directory).ino.toString(16)} `));

// The armer closes those of the test before while this one begins.
beforeEach(() => until('none is left', () => inotifyWatches() === 0));

const hierarchies: [name: string, mount: string][] = [];
if (hasMemoryV1) hierarchies.push(['v1', memoryV1]);
if (hasCgroup2) hierarchies.push(['v2', cgroup2]);

describe.each(hierarchies)('cgroups of %s', (_name, mount) => {
  test('that appear and vanish are listed in order, once, as of the call', () => {
    const root = makeCgroup(mount);
    mkdirSync(`${root}/before`);
    const tree = quiet(root);
    expect(tree.changes()).toBeUndefined();
    mkdirSync(`${root}/a`);
    mkdirSync(`${root}/b`);
    rmdirSync(`${root}/a`);
    expect(changesOf(tree)).toEqual(['appeared a', 'appeared b', 'vanished a']);
    expect(tree.changes()).toBeUndefined();
    rmdirSync(`${root}/before`);
    expect(changesOf(tree)).toEqual(['vanished before']);
  });

  test('below a descendant are reported while it is followed, and only then', () => {
    const root = makeCgroup(mount);
    mkdirSync(`${root}/old`);
    mkdirSync(`${root}/other`);
    const tree = quiet(root);
    expect(tree.follow('old')).toBe(true);
    mkdirSync(`${root}/old/below`);
    mkdirSync(`${root}/other/below`);
    mkdirSync(`${root}/new`);
    expect(changesOf(tree)).toEqual(['appeared old/below', 'appeared new']);
    mkdirSync(`${root}/new/one`);
    expect(tree.changes()).toBeUndefined();
    for (const path of ['new', 'new/one']) expect(tree.follow(path)).toBe(true);
    mkdirSync(`${root}/new/one/two`);
    rmdirSync(`${root}/old/below`);
    expect(changesOf(tree)).toEqual(['appeared new/one/two', 'vanished old/below']);
    tree.unfollow('new');
    mkdirSync(`${root}/new/one/three`);
    mkdirSync(`${root}/new/two`);
    expect(tree.changes()).toBeUndefined();
    rmdirSync(`${root}/old`);
    expect(changesOf(tree)).toEqual(['vanished old']);
    expect(tree.follow('old')).toBe(false);
    mkdirSync(`${root}/old`); // another one
    mkdirSync(`${root}/old/below`);
    expect(changesOf(tree)).toEqual(['appeared old']);
  });

  test('need no watch of their own: only the root and followed ones have one', async () => {
    const root = makeCgroup(mount);
    const before = inotifyWatches();
    const tree = quiet(root);
    for (let i = 0; i < 50; i++) {
      mkdirSync(`${root}/a`);
      mkdirSync(`${root}/a/b`);
      tree.changes();
      tree.follow('a');
      tree.follow('a/b');
      expect(inotifyWatches()).toBe(before + 3);
      rmdirSync(`${root}/a/b`);
      rmdirSync(`${root}/a`);
      tree.changes();
    }
    expect(inotifyWatches()).toBe(before + 1);
    tree.close();
    await until('the watches are closed', () => inotifyWatches() <= before);
  });

  test('cause a callback, if there is one', async () => {
    const root = makeCgroup(mount);
    const { tree, wakes } = waking(root);
    await pause(50);
    expect(wakes).toEqual([]);
    mkdirSync(`${root}/a`);
    await until('a wake', () => wakes.length > 0);
    expect(wakes[0]).toEqual({ bits: native.WAKE.FIRED, detail: 0 });
    expect(changesOf(tree)).toEqual(['appeared a']);
    expect(native.watchCount()).toBe(1);
  });

  test('report the removal of the root as GONE, even if it is empty', async () => {
    const root = makeCgroup(mount);
    const { tree, wakes } = waking(root);
    const asked = quiet(root);
    rmdirSync(root);
    await until('GONE', () => wakes.length > 0);
    expect(wakes).toEqual([{ bits: native.WAKE.GONE, detail: 0 }]);
    expect([tree.live, tree.changes()]).toEqual([false, GONE]);
    // No watch was armed here: the change is known at the next query.
    expect(asked.live).toBe(true);
    expect(asked.changes()).toEqual(GONE);
    expect(asked.live).toBe(false);
    mkdirSync(root); // another one
    expect(asked.changes()).toEqual(GONE);
  });

  test('report GONE even if they are read before the waiter has woken', async () => {
    const parent = makeCgroup(mount);
    // Often enough that the question comes first at least once.
    for (let i = 0; i < 100; i++) {
      mkdirSync(`${parent}/root`);
      const { tree, wakes } = waking(`${parent}/root`);
      rmdirSync(`${parent}/root`);
      expect(tree.changes()?.gone).toBe(true);
      await until('GONE', () => !tree.live);
      expect(wakes.map(({ bits }) => bits)).toEqual([native.WAKE.GONE]);
    }
  });

  test('of which ten thousand are created and removed: lost events are reported, nothing leaks, and the set is right at the end', () => {
    const root = makeCgroup(mount);
    for (const name of ['stays', 'goes']) mkdirSync(`${root}/${name}`);
    const tree = quiet(root);
    for (const name of ['stays', 'goes']) tree.follow(name);
    const watches = inotifyWatches();
    const kept = watchOf(`${root}/stays`);
    const descriptors = openDescriptors();
    const known = new Set<string>();
    const listAnew = () => {
      known.clear();
      for (const entry of readdirSync(root, { withFileTypes: true })) if (entry.isDirectory()) known.add(entry.name);
    };
    const take = () => {
      const { list, overflow } = tree.changes() ?? { list: [], overflow: false };
      if (overflow) listAnew();
      for (const { path, kind } of list)
        if (kind === 'appeared') known.add(path);
        else known.delete(path);
      return overflow;
    };
    let overflows = 0;
    for (let i = 0; i < 10_000; i++) {
      mkdirSync(`${root}/c${String(i)}`);
      if (i >= 3) rmdirSync(`${root}/c${String(i - 3)}`);
      if (i < 1_000 && i % 10 === 0 && take()) overflows += 1; // and then there is no reader for a long time
    }
    expect(overflows).toBe(0);
    rmdirSync(`${root}/goes`);
    expect(take()).toBe(true);
    expect([...known].sort()).toEqual(['c9997', 'c9998', 'c9999', 'stays']);
    expect(inotifyWatches()).toBe(watches - 1);
    // A watch made again would be another one, and the events of many old ones would overflow the queue again and
    // again.
    expect(watchOf(`${root}/stays`)).toBe(kept);
    mkdirSync(`${root}/stays/below`);
    expect(changesOf(tree)).toEqual(['appeared stays/below']); // it is still followed after what was lost
    expect(openDescriptors()).toBeLessThanOrEqual(descriptors);
  });

  test('that change while JavaScript stalls cause a few wakes, which report lost events', async () => {
    const root = makeCgroup(mount);
    const { tree, wakes } = waking(root);
    for (let i = 0; i < 10_000; i++) {
      mkdirSync(`${root}/x`);
      rmdirSync(`${root}/x`);
    }
    await until('a wake', () => wakes.length > 0);
    // On a busy machine the thread is still reading the storm: the wake that was delivered, the one under way, and the
    // rest.
    expect(wakes.length).toBeLessThanOrEqual(3);
    expect(wakes[0]).toEqual({ bits: native.WAKE.FIRED, detail: OVERFLOW });
    expect(tree.changes()).toEqual({ list: [], overflow: true, gone: false });
    mkdirSync(`${root}/y`);
    expect(changesOf(tree)).toEqual(['appeared y']);
  });

  test('leave no descriptor after close(), and nothing is known then', async () => {
    const root = makeCgroup(mount);
    const first = waking(root).tree; // starts the threads
    const before = openDescriptors();
    const trees = [quiet(root), quiet(root), waking(root).tree];
    for (const tree of trees) {
      tree.close();
      tree.close();
      expect([tree.live, tree.changes()]).toEqual([false, GONE]);
    }
    await until('the watches are closed', () => openDescriptors() <= before);
    first.close();
    expect(native.watchCount()).toBe(0);
  });

  // The kernel waits for a grace period where an inotify instance is closed; the armer does instead, where there is
  // one.
  test.each([
    ['a callback', (root: string) => waking(root).tree],
    ['no callback', (root: string) => quiet(root)],
  ])('are closed without waiting while they have %s', async (_who, open) => {
    const root = makeCgroup(mount);
    waking(root);
    const before = openDescriptors();
    const trees = Array.from({ length: 20 }, () => open(root));
    const slept = sleeps();
    for (const tree of trees) tree.close();
    expect(sleeps() - slept).toBeLessThan(trees.length / 2);
    expect(trees.some(({ live }) => live)).toBe(false);
    await until('all are closed', () => openDescriptors() <= before);
  });

  test('are closed without waiting by a reader that finds the root removed', async () => {
    const root = makeCgroup(mount);
    waking(makeCgroup(mount));
    const before = openDescriptors();
    const trees = Array.from({ length: 20 }, () => quiet(root));
    rmdirSync(root);
    const slept = sleeps();
    for (const tree of trees) expect(tree.changes()).toEqual(GONE);
    expect(sleeps() - slept).toBeLessThan(trees.length / 2);
    await until('all are closed', () => openDescriptors() <= before);
  });

  test('do not keep the process alive without a callback', async () => {
    const root = makeCgroup(mount);
    const { status, output } = await runNode(`
      const tree = new native.CgroupTree(${JSON.stringify(root)});
      console.log(tree.live, native.watchCount(), JSON.stringify(tree.status()));`);
    expect([status, output]).toEqual([0, `true 0 ${JSON.stringify({ mechanism: 'tree', target: root, live: true, errno: 0 })}`]);
  });
});

describe.runIf(hasMemoryV1)('cgroups of v1 that are renamed', () => {
  test('disappear and appear, and both of two that swap their names are reported', () => {
    const root = makeCgroup(memoryV1);
    for (const name of ['a', 'b']) mkdirSync(join(root, name));
    const tree = quiet(root);
    for (const name of ['a', 'b']) tree.follow(name);
    const rename = (from: string, to: string) => {
      renameSync(join(root, from), join(root, to));
    };
    rename('a', 'c');
    rename('b', 'a');
    rename('c', 'b');
    expect(changesOf(tree)).toEqual(['vanished a', 'appeared c', 'vanished b', 'appeared a', 'vanished c', 'appeared b']);
    for (const name of ['a', 'b']) tree.follow(name);
    mkdirSync(join(root, 'a', 'below'));
    expect(changesOf(tree)).toEqual(['appeared a/below']); // under its new name
  });

  test('report a renamed root as GONE', async () => {
    const parent = makeCgroup(memoryV1);
    const root = join(parent, 'root');
    mkdirSync(root);
    const { wakes } = waking(root);
    const tree = quiet(root);
    renameSync(root, join(parent, 'other'));
    await until('GONE', () => wakes.length > 0);
    expect(wakes[0]?.bits).toBe(native.WAKE.GONE);
    expect(tree.changes()?.gone).toBe(true);
  });
});

describe('a path that cannot be watched', () => {
  test.each([
    ['does not exist', '/sys/fs/cgroup/evictd-test-none', 'ENOENT'],
    ['is a file', '/proc/self/status', 'ENOTDIR'],
  ])('%s', (_why, path, code) => {
    expect(thrownBy(() => quiet(path))).toMatchObject({ code, syscall: 'open', path });
  });

  test('is not a cgroup', () => {
    const directory = makeDirectory();
    expect(thrownBy(() => quiet(directory))).toMatchObject({ code: 'ENOENT', path: `${directory}/cgroup.controllers` });
  });

  // In a user namespace of its own, where the limits are its own.
  test.runIf(hierarchies.length > 0).each([
    ['max_inotify_instances', 'EMFILE', 'inotify_init1'],
    ['max_inotify_watches', 'ENOSPC', 'inotify_add_watch'],
  ])('gives, for want of user.%s, %s', (limit, code, syscall) => {
    const root = makeCgroup(hierarchies[0]?.[1] ?? '');
    const script = `
      const native = require(${JSON.stringify(addonFile)});
      require('node:fs').writeFileSync('/proc/sys/user/${limit}', '0');
      try { new native.CgroupTree(${JSON.stringify(root)}); console.log('watched'); }
      catch (error) { console.log(error.code, error.syscall); }`;
    const { status, stdout, stderr } = spawnSync('unshare', ['-Ur', process.execPath, '-e', script], { encoding: 'utf8' });
    expect([status, (stdout + stderr).trim()]).toEqual([0, `${code} ${syscall}`]);
  });

  test.runIf(hierarchies.length > 0)('is followed only while inotify watches are left', () => {
    const root = makeCgroup(hierarchies[0]?.[1] ?? '');
    for (const name of ['a', 'b']) mkdirSync(`${root}/${name}`);
    const script = `
      const native = require(${JSON.stringify(addonFile)});
      require('node:fs').writeFileSync('/proc/sys/user/max_inotify_watches', '2');
      const tree = new native.CgroupTree(${JSON.stringify(root)});
      const tried = ['a', 'b'].map((name) => { try { return tree.follow(name); } catch ({ code, path }) { return [code, path]; } });
      console.log(JSON.stringify(tried));`;
    const { stdout, stderr } = spawnSync('unshare', ['-Ur', process.execPath, '-e', script], { encoding: 'utf8' });
    expect((stdout + stderr).trim()).toBe(JSON.stringify([true, ['ENOSPC', `${root}/b`]]));
  });
});
