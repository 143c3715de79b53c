import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { native, type FileSpec } from '../../src/native/index.js';
import { after, cgroup2, closing, hasCgroup2, hasMemoryV1, makeCgroup, memoryV1, openDescriptors, threads, until } from './kernel.js';

const { ENODEV } = constants.errno as Record<string, number>;

const number = (path: string): FileSpec => ({ path, format: 'number' });
const hierarchies: [name: string, mount: string, files: FileSpec[], sampled: FileSpec][] = [
  ...(hasMemoryV1
    ? [
        [
          'v1',
          memoryV1,
          [
            number('memory.usage_in_bytes'),
            { path: 'memory.stat', format: 'keyed', keys: ['total_inactive_file'] },
            { path: 'cgroup.procs', format: 'occupied' },
          ],
          number('memory.usage_in_bytes'),
        ] as [string, string, FileSpec[], FileSpec],
      ]
    : []),
  ...(hasCgroup2
    ? [
        [
          'v2',
          cgroup2,
          [
            { path: 'cgroup.events', format: 'keyed', keys: ['populated'] },
            number('cgroup.max.depth'),
            { path: 'cgroup.procs', format: 'occupied' },
          ],
          { path: 'cgroup.stat', format: 'keyed', keys: ['nr_descendants'] },
        ] as [string, string, FileSpec[], FileSpec],
      ]
    : []),
];

/** Fifty at a time, made and removed as fast as the kernel can. The last three stay. */
const CHURN = `
  my $root = $ARGV[0];
  for my $i (1 .. 10000) {
    mkdir "$root/c$i" or die "$!";
    if ($i > 50) { rmdir "$root/c" . ($i - 50) or die "$!" }
  }
  for my $i (9951 .. 9997) { rmdir "$root/c$i" or die "$!" }`;

test.each(hierarchies)(
  'ten thousand cgroups of %s are created and removed: followed, read, sampled, signalled and killed meanwhile, and all is right at the end',
  async (_name, mount, files, sampled) => {
    const root = makeCgroup(mount);
    let wakes = 0;
    const sampler = closing(
      new native.Sampler(
        {
          files: [{ ...sampled, path: `${root}/${sampled.path}` }],
          weights: [1],
          maxRatePerSecond: 1,
          maxPeriodMs: 1,
          limits: [25, 1 << 20],
        },
        () => wakes++,
      ),
    );
    const before = { descriptors: openDescriptors(), threads: threads() };
    const tree = new native.CgroupTree(root, 'all', () => undefined);
    const handle = new native.CgroupHandle(root);
    const table = new native.CgroupTable(files, { maxOpenFiles: 60 }); // some rows keep theirs, some do not
    const rows = new Map<string, number>();
    const came = new Set<string>();
    const churn = spawn('perl', ['-e', CHURN, root], { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(churn, 'exit');
    after(async () => {
      churn.kill('SIGKILL');
      await ended;
    });

    const add = (path: string) => {
      came.add(path);
      try {
        rows.set(path, table.add(`${root}/${path}`));
      } catch (error) {
        expect(['ENOENT', 'ENODEV']).toContain((error as NodeJS.ErrnoException).code); // it is gone already
      }
    };
    const drop = (path: string) => {
      const row = rows.get(path);
      if (row !== undefined) table.remove(row);
      rows.delete(path);
    };
    const follow = () => {
      const { list, overflow, gone } = tree.changes() ?? { list: [], overflow: false, gone: false };
      expect(gone).toBe(false);
      if (overflow) {
        const there = readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
        for (const path of rows.keys()) if (!there.includes(path)) drop(path);
        for (const path of there) if (!rows.has(path)) add(path);
      }
      for (const { path, kind } of list) {
        if (kind === 'vanished') drop(path);
        else if (!rows.has(path)) add(path);
      }
    };
    let passes = 0;
    const read = () => {
      const errors = new Int32Array(table.rowCount);
      const values = new Float64Array(table.rowCount * table.columns);
      table.read(values, errors);
      passes++;
      const told = [...rows.values()].map((row) => errors[row]);
      expect(told.filter((error) => error !== 0 && error !== ENODEV)).toEqual([]);
      const unknown = (row: number) => values.subarray(row * table.columns, (row + 1) * table.columns).some(Number.isNaN);
      expect([...rows.values()].filter((row) => errors[row] === 0 && unknown(row))).toEqual([]);
      return told;
    };

    while (churn.exitCode === null && churn.signalCode === null) {
      follow();
      read();
      expect(handle.signal(constants.signals.SIGKILL)).toEqual({ found: 0, signalled: 0, errno: 0 });
      expect(handle.stop(2)).toEqual({ rounds: 1, settled: true, errno: 0 });
      await turn();
    }
    expect(churn.exitCode).toBe(0);
    follow();
    expect([...rows.keys()].sort()).toEqual(['c10000', 'c9998', 'c9999']);
    expect(read()).toEqual([0, 0, 0]);
    expect([tree.live, sampler.live, table.size]).toEqual([true, true, 3]);
    expect(came.size).toBeGreaterThan(3);
    expect(passes).toBeGreaterThan(2); // more, and more of the ten thousand, on a machine that is not busy
    expect(wakes).toBeGreaterThan(0);
    for (const owner of [tree, handle, table]) owner.close();
    await until('everything is given back', () => openDescriptors() <= before.descriptors && threads() <= before.threads);
  },
  120_000,
);
