import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('a cgroup counts as a whole, a slice by its children, and a workload not at all', () => {
  const root = tree();
  const system = root.child('system.slice');
  system.child('a.service').child('inner');
  system.child('nested.slice').child('b.scope');
  root.child('lxc').child('web');
  const apps = root.child('apps');
  apps.child('job');
  apps.child('beside');
  const { cgroups, unread, above } = read(root, ['/apps'], ['/apps/job']);
  expect(below(root, cgroups)).toEqual(['/apps/beside', '/lxc', '/system.slice/a.service', '/system.slice/nested.slice/b.scope']);
  expect(unread).toEqual([]);
  expect([...above].map((path) => path.slice(root.path.length)).sort()).toEqual([
    '',
    '/apps',
    '/system.slice',
    '/system.slice/nested.slice',
  ]);
});

test('process memory counts, and page cache does not', async () => {
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

/** Files as the kernel's, with usage, swap and page cache in MiB. */
type Amounts = Readonly<Record<string, readonly [memory: number, swap?: number, cache?: number]>>;

function readTree(version: 1 | 2, amounts: Amounts, { above = [], workloads = [] }: Partial<Record<'above' | 'workloads', string[]>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  for (const [path, [memory, swap = 0, cache = 0]] of Object.entries(amounts)) {
    const bytes = (mib: number): string => `${String(mib * 2 ** 20)}\n`;
    const [used, other, all] =
      version === 1 ? ['memory.usage_in_bytes', 'memory.memsw.usage_in_bytes', 'total_'] : ['memory.current', 'memory.swap.current', ''];
    mkdirSync(directory + path, { recursive: true });
    writeFileSync(`${directory}${path}/${used}`, bytes(memory));
    writeFileSync(`${directory}${path}/${other}`, bytes(version === 1 ? memory + swap : swap));
    writeFileSync(`${directory}${path}/memory.stat`, `${all}inactive_file ${bytes(cache)}${all}active_file ${bytes(cache)}`);
  }
  const hierarchy = { version, controller: '', mountPoint: directory, root: '/' } as const;
  const isWorkload = (path: string): boolean => workloads.includes(path);
  const found = readMemoryHoldings(native, hierarchy, '/', new Set(above), isWorkload, { looked: 24, measured: 4 });
  return { ...found, cgroups: Object.fromEntries([...found.cgroups].map(([path, held]) => [path, Number(held >> 20n)])) };
}

test.each([1, 2] as const)('on v%i memory and swap count together, without page cache', (version) => {
  const { cgroups } = readTree(version, { '/resident': [90, 0, 30], '/swapped': [10, 200, 3] });
  expect(cgroups).toEqual({ '/resident': 30, '/swapped': 204 });
});

/** A slice and the units in it. */
const units = (slice: string, count: number, mib: number): Amounts =>
  Object.fromEntries([
    [slice, [count * mib]],
    ...Array.from({ length: count }, (_, number) => [`${slice}/${String(number)}.service`, [mib]] as const),
  ]);

test('the largest cgroups have their amounts, wherever they are, and the others have an upper bound', () => {
  const leak = { '/z.slice': [9] as const, '/z.slice/z-z.slice': [9] as const, '/z.slice/z-z.slice/leak.service': [9, 500] as const };
  const { cgroups, othersAtMost, unread } = readTree(2, { ...units('/a.slice', 10, 2), ...units('/b.slice', 3, 3), ...leak });
  const largest = { '/z.slice/z-z.slice/leak.service': 509, '/b.slice/0.service': 3, '/b.slice/1.service': 3, '/b.slice/2.service': 3 };
  expect([cgroups, othersAtMost, unread]).toEqual([largest, 2n << 20n, []]);
});

test.each([
  ['/a.slice', '/b.slice'],
  ['/b.slice', '/a.slice'],
])('where not all cgroups fit, the smallest slice counts as a whole: %s', (small, large) => {
  const { cgroups, unread } = readTree(2, { ...units(small, 12, 1), ...units(large, 12, 2) });
  expect([cgroups[small], cgroups[large], unread]).toEqual([12, undefined, []]);
});

test('a cgroup above workloads does not count as a whole, and is reported as not completely read', () => {
  const amounts = { ...units('/a.slice', 12, 1), ...units('/apps', 22, 1) };
  const { cgroups, unread } = readTree(2, amounts, { above: ['/apps'], workloads: ['/apps/0.service'] });
  expect([cgroups['/a.slice'], cgroups['/apps'], unread]).toEqual([12, undefined, ['/apps']]);
});

test('a machine has the counters of its kernel, a cgroup only shared memory; without cgroups these remain', () => {
  const machine = readMemoryHoldings(native, undefined, undefined, new Set(), () => false);
  expect([machine.cgroups.size, machine.counters.get('Shmem')]).toEqual([0, expect.any(BigInt)]);
  const known = MEMORY_COUNTERS.map(({ field }) => field);
  expect([...machine.counters.keys()].every((field) => known.includes(field))).toBe(true);
  expect([...read(tree()).counters]).toEqual([['Shmem', 0n]]);
});
