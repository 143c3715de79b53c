import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { native, type FileSpec } from '../../src/native/index.js';
import { after, cgroup2, hasCgroup2, hasMemoryV1, makeCgroup, makeDirectory, memoryV1, openDescriptors, threads, until } from './kernel.js';

const times = 1000;
const number: FileSpec = { path: '/proc/loadavg', format: 'loadavg' };
const ignore = () => undefined;

/** What stays: the epoll set, its stop descriptor and the thread come with the environment's first watch. */
const startWaiter = () =>
  new native.Sampler({ files: [number], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1000, limits: [] }, ignore).close();

const kinds: [kind: string, open: () => () => { close(): void }][] = [
  ['Sampler', () => () => new native.Sampler({ files: [number], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [1] }, ignore)],
  ['FileReader', () => () => new native.FileReader([number])],
  [
    'Pidfd',
    () => {
      const child = spawn('sleep', ['60']);
      after(() => void child.kill('SIGKILL'));
      return () => new native.Pidfd(child.pid ?? 0);
    },
  ],
  [
    'FileLock',
    () => {
      const path = join(makeDirectory(), 'lock');
      return () => new native.FileLock(path);
    },
  ],
  ['FilesystemStats', () => () => new native.FilesystemStats('/')],
  ['ProcessExit', () => () => new native.ProcessExit([process.pid], ignore)],
];
if (hasMemoryV1) {
  const v1 = (open: (cgroup: string) => { close(): void }) => () => {
    const cgroup = makeCgroup(memoryV1);
    return () => open(cgroup);
  };
  kinds.push(
    ['MemcgThreshold', v1((cgroup) => new native.MemcgThreshold(cgroup, 1n << 20n, ignore))],
    ['OomControl', v1((cgroup) => new native.OomControl(cgroup, ignore))],
    ['CgroupHandle', v1((cgroup) => new native.CgroupHandle(cgroup))],
    ['CgroupTree', v1((cgroup) => new native.CgroupTree(cgroup, ignore))],
    ['CgroupTree without a wake', v1((cgroup) => new native.CgroupTree(cgroup))],
    [
      'CgroupTable',
      v1((cgroup) => {
        const table = new native.CgroupTable([{ path: 'memory.usage_in_bytes', format: 'number' }]);
        table.add(cgroup);
        table.read(new Float64Array(1), new Int32Array(1));
        return table;
      }),
    ],
  );
}
if (hasCgroup2) {
  const v2 = (open: (cgroup: string) => { close(): void }) => () => {
    const cgroup = makeCgroup(cgroup2);
    return () => open(cgroup);
  };
  kinds.push(
    ['MemcgEvents', v2((cgroup) => new native.MemcgEvents(cgroup, 'cgroup.events', ignore))],
    [
      'PsiTrigger',
      v2((cgroup) => new native.PsiTrigger(`${cgroup}/memory.pressure`, { kind: 'some', stallUs: 100_000, windowUs: 2_000_000 }, ignore)),
    ],
  );
}

test.each(kinds)('%s, opened and closed a thousand times, leaves no descriptor and no thread', async (_kind, prepare) => {
  startWaiter();
  const open = prepare();
  open().close();
  await until('a helper thread of the first ends', () => native.watchCount() === 0);
  const before = { descriptors: openDescriptors(), threads: threads() };
  for (let i = 0; i < times; i++) open().close();
  expect(native.watchCount()).toBe(0);
  await until('threads end', () => threads() <= before.threads);
  await until('descriptors are closed', () => openDescriptors() <= before.descriptors);
});

test('constructors that fail a thousand times leave nothing behind', () => {
  startWaiter();
  const before = openDescriptors();
  const none = '/sys/fs/cgroup/evictd-test-none';
  const attempts: (() => unknown)[] = [
    () => new native.MemcgThreshold(none, 1n, ignore),
    () => new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: 9_000_000, windowUs: 2_000_000 }, ignore),
    () => new native.OomControl(none, ignore),
    () => new native.MemcgEvents(hasCgroup2 ? cgroup2 : none, 'memory.events', ignore),
    () =>
      new native.Sampler(
        { files: [number, { path: none, format: 'number' }], weights: [1, 1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [] },
        ignore,
      ),
    () => new native.CgroupHandle('/proc', 1n << 60n),
    () => new native.FileLock('/proc/none'),
    () => new native.CgroupTree('/proc'),
    () => new native.ProcessExit([0], ignore),
  ];
  for (let i = 0; i < times; i++) for (const attempt of attempts) expect(attempt).toThrow();
  expect(openDescriptors()).toBeLessThanOrEqual(before); // Node may close one of its own meanwhile
  expect(native.watchCount()).toBe(0);
});
