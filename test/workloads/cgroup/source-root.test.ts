import { mkdirSync, readdirSync, readlinkSync, renameSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native, type Binding, type CgroupTreeConstructor } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { SourceRoot } from '../../../src/workloads/cgroup/source-root.js';
import { UnitTree } from '../../../src/workloads/systemd/unit-tree.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { SLOWNESS } from '../../support/slowness.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const hierarchy = memoryHierarchy();

let root: TestCgroup;
const opened: WorkloadSource[] = [];

beforeEach(() => {
  root = testCgroup();
});
afterEach(async () => {
  for (const source of opened.splice(0)) source.close();
  await root.cleanup();
});

const open = (binding: Binding, { paths = [root.path], watched = true } = {}) => {
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
  const config = { workloads: paths.map((cgroup) => ({ cgroup })), rules: [] };
  const source = openWorkloads(config, binding, { identity, hierarchy }, watched);
  opened.push(source);
  return source;
};
const names = (source: WorkloadSource) =>
  source
    .candidates()
    .usages.map(({ workload }) => workload.name)
    .sort();
const sleeping = async (name: string, parent = root) => {
  const cgroup = parent.child(name);
  await cgroup.spawn('sleep', ['600']);
  return cgroup;
};
/** A machine on which the kernel refuses to watch. */
const refusing = (code: string): Binding => ({
  ...native,
  CgroupTree: function (): never {
    throw Object.assign(new Error(`${code}: no`), { code, syscall: 'inotify_init1' });
  } as unknown as CgroupTreeConstructor,
});
/** A kernel that tells of nothing. */
const silent: Binding = {
  ...native,
  CgroupTree: class {
    readonly live = true;
    changes() {
      return undefined;
    }
    follow() {
      return true;
    }
    close() {
      // nothing is held
    }
  } as unknown as CgroupTreeConstructor,
};

describe.each<[how: string, binding: Binding, watched: boolean]>([
  ['watched', native, true],
  ['that is not watched, as in a check', native, false],
  ['that cannot be watched', refusing('EMFILE'), true],
])('a source %s', (_how, binding, watched) => {
  test('adds new cgroups and drops removed ones with every pass', async () => {
    await sleeping('a');
    const source = open(binding, { watched });
    expect(names(source)).toEqual(['a']);
    const b = await sleeping('b');
    await sleeping('c');
    expect(names(source)).toEqual(['a', 'b', 'c']);
    await b.cleanup();
    expect(names(source)).toEqual(['a', 'c']);
    await sleeping('b'); // another one of the same name
    expect(names(source)).toEqual(['a', 'b', 'c']);
    source.refresh();
    expect(names(source)).toEqual(['a', 'b', 'c']);
  });

  test('is removed, made again and found again', async () => {
    const slice = root.child('slice');
    const source = open(binding, { watched, paths: [slice.path, `${root.path}/later`] });
    await sleeping('a', slice);
    expect(names(source)).toEqual(['a']);
    await slice.cleanup();
    expect(names(source)).toEqual([]);
    const again = root.child('slice');
    const later = root.child('later');
    await sleeping('b', again);
    await sleeping('c', later);
    expect(names(source)).toEqual(['b', 'c']);
    source.refresh();
    await sleeping('d', again);
    await sleeping('e', later);
    expect(names(source)).toEqual(['b', 'c', 'd', 'e']);
  });

  test.runIf(hierarchy.version === 1)('on v1 has both of two cgroups that swapped their names, each with its own processes', async () => {
    await sleeping('a');
    await sleeping('b');
    const source = open(binding, { watched });
    const before = source.candidates();
    for (const [from, to] of [
      ['a', 'c'],
      ['b', 'a'],
      ['c', 'b'],
    ] as const) {
      renameSync(join(root.dir, from), join(root.dir, to));
    }
    const after = source.candidates();
    // Unwatched, nothing shows before the processes are read.
    if (!watched || binding !== native)
      for (const { workload } of after.usages) expect(after.veto?.(workload)).toEqual({ kind: 'removed' });
    const { usages, veto } = source.candidates();
    const order = new Map(before.usages.map(({ workload }) => [workload.name, workload.startOrder]));
    expect(usages.map(({ workload }) => [workload.name, workload.startOrder]).sort()).toEqual([
      ['a', order.get('b')],
      ['b', order.get('a')],
    ]);
    expect(usages.map(({ workload }) => veto?.(workload))).toEqual([undefined, undefined]);
  });
});

describe('a watched source', () => {
  test('is not listed if the kernel reports no change', async () => {
    await sleeping('a');
    const source = open(silent);
    await sleeping('b');
    expect(names(source)).toEqual(['a']);
  });

  test(
    'reports changes since its own watch was made, lost ones included',
    async () => {
      const source = open(native);
      for (let i = 0; i < 9_000; i++) {
        mkdirSync(`${root.dir}/x`); // the kernel's queue holds 16,384 changes
        rmdirSync(`${root.dir}/x`);
      }
      await sleeping('last');
      expect(names(source)).toEqual(['last']);
    },
    60_000 * SLOWNESS,
  );

  test('has one descriptor of inotify, and none after close()', () => {
    const instances = () => descriptorsNamed('anon_inode:inotify');
    const before = instances();
    const source = open(native);
    expect(instances()).toBe(before + 1);
    source.close();
    expect(instances()).toBe(before);
    open(native, { watched: false });
    expect(instances()).toBe(before);
  });

  test.runIf(hierarchy.version === 1)('on v1 is found by its name at the next tick after a parent was renamed', async () => {
    const above = root.child('above');
    await sleeping('a', above.child('slice'));
    const source = open(native, { paths: [`${above.path}/slice`] });
    expect(names(source)).toEqual(['a']);
    renameSync(above.dir, `${root.dir}/elsewhere`);
    source.refresh();
    expect(names(source)).toEqual([]);
  });
});

describe('a source that cannot be watched', () => {
  test.each([
    ['EMFILE', 'fs.inotify.max_user_instances'],
    ['ENOSPC', 'fs.inotify.max_user_watches'],
    ['EACCES', 'candidates are still found'],
  ])('reports, for %s, the reason and the remedy', (code, hint) => {
    const [problem] = open(refusing(code)).problems();
    expect(problem).toMatchObject({ code: 'EVICTD_SOURCE_WATCH' });
    expect(problem?.message).toContain(`${root.path} cannot be watched: Error: ${code}`);
    expect(problem?.hint).toContain(hint);
  });

  test('reports nothing about a missing source, which is already reported', () => {
    const source = open(native, { paths: ['/evictd-test-none'] });
    expect(source.problems().map(({ code }) => code)).toEqual(['EVICTD_SOURCE_MISSING']);
  });
});

function descriptorsNamed(name: string): number {
  return readdirSync('/proc/self/fd').filter((descriptor) => linkOf(`/proc/self/fd/${descriptor}`) === name).length;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // the descriptor of the listing itself
  }
}

test('members are counted only without a watch', () => {
  const known = vi.fn(() => 0);
  const watched = new SourceRoot(root.path, root.dir, native);
  const counted = new SourceRoot(root.path, root.dir, undefined);
  watched.watch();
  for (const source of [watched, counted]) {
    source.list();
    expect(source.changes(known)).toBe('none');
    source.close();
    expect(known).toHaveBeenCalledTimes(source === counted ? 1 : 0);
  }
});

test('a tree that could not be listed completely is listed again, even without an event', () => {
  const directory = temporaryDirectory();
  const slice = join(directory, 'apps-a.slice');
  mkdirSync(join(directory, 'a.service'));
  symlinkSync(slice, slice); // ELOOP
  const source = new SourceRoot('/apps.slice', directory, silent, new UnitTree('/apps.slice', true, () => true));
  source.watch();
  expect([source.list(), source.changes(() => 1)]).toEqual([['a.service'], 'unknown']);
  rmSync(slice);
  mkdirSync(join(slice, 'b.service'), { recursive: true });
  expect([source.list().sort(), source.changes(() => 1)]).toEqual([['a.service', 'apps-a.slice/b.service'], 'none']);
});
