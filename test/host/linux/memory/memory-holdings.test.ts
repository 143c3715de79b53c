import { onTestFinished, expect, test } from 'vitest';
import { MEMORY_COUNTERS } from '../../../../src/core/budget/memory-growth.js';
import { readMemoryHoldings } from '../../../../src/host/linux/memory/memory-holdings.js';
import { native } from '../../../../src/native/index.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../../support/cgroup.js';

function tree(): TestCgroup {
  const root = testCgroup();
  onTestFinished(() => root.cleanup());
  return root;
}

const read = (root: TestCgroup, above: readonly string[] = [], workloads: readonly string[] = []) => {
  const isWorkload = (path: string): boolean => workloads.includes(path.slice(root.path.length));
  return readMemoryHoldings(native, memoryHierarchy(), root.path, new Set(above.map((path) => root.path + path)), isWorkload);
};

const below = (root: TestCgroup, cgroups: ReadonlyMap<string, bigint>): readonly string[] =>
  [...cgroups.keys()].map((path) => path.slice(root.path.length)).sort();

test('a cgroup counts as a whole, a slice by what is in it; what is a workload does not count', () => {
  const root = tree();
  const system = root.child('system.slice');
  system.child('a.service').child('inner');
  system.child('nested.slice').child('b.scope');
  root.child('lxc').child('web');
  const apps = root.child('apps');
  apps.child('job');
  apps.child('beside');
  const { cgroups, isPartial, above } = read(root, ['/apps'], ['/apps/job']);
  expect(below(root, cgroups)).toEqual(['/apps/beside', '/lxc', '/system.slice/a.service', '/system.slice/nested.slice/b.scope']);
  expect([isPartial, [...above]]).toEqual([false, [`${root.path}/apps`]]);
});

test('the memory of its processes, and not their page cache', async () => {
  const root = tree();
  const busy = root.child('busy');
  const script = `
    $| = 1;
    open my $file, "+>", undef; print $file "x" x (1 << 20) for 1 .. 32;
    my @held; push @held, "x" x (1 << 20) for 1 .. 16;
    print "ready\\n"; sleep while 1;`;
  const { child } = await busy.spawn('perl', ['-e', script]);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const held = read(root).cgroups.get(busy.path) ?? 0n;
  expect(Number(held >> 20n)).toBeGreaterThanOrEqual(15);
  expect(Number(held >> 20n)).toBeLessThan(32);
});

test('at most 128 cgroups are read, and the reading says that there are more', () => {
  const root = tree();
  for (let number = 0; number < 129; number += 1) root.child(`c${String(number)}`);
  const { cgroups, isPartial } = read(root);
  expect([cgroups.size, isPartial]).toEqual([128, true]);
});

test('a machine has the counters of its kernel, a cgroup has none; without cgroups these remain', () => {
  const machine = readMemoryHoldings(native, undefined, undefined, new Set(), () => false);
  expect([machine.cgroups.size, machine.counters.get('Shmem')]).toEqual([0, expect.any(BigInt)]);
  const known = MEMORY_COUNTERS.map(({ field }) => field);
  expect([...machine.counters.keys()].every((field) => known.includes(field))).toBe(true);
  expect(read(tree()).counters.size).toBe(0);
});
