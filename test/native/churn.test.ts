import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { native, type FileSpec, type SamplerWatch } from '../../src/native/index.js';
import { after, cgroup2, closing, hasCgroup2, hasMemoryV1, makeCgroup, memoryV1, openDescriptors, threads, until } from './kernel.js';

const { ENODEV } = constants.errno as Record<string, number>;

const number = (path: string): FileSpec => ({ path, format: 'number' });
/** Files of a cgroup; the first is sampled, too. */
const hierarchies: [name: string, mount: string, files: FileSpec[]][] = [];
if (hasMemoryV1)
  hierarchies.push([
    'v1',
    memoryV1,
    [
      number('memory.usage_in_bytes'),
      { path: 'memory.stat', format: 'keyed', keys: ['total_inactive_file'] },
      { path: 'cgroup.procs', format: 'occupied' },
    ],
  ]);
if (hasCgroup2)
  hierarchies.push([
    'v2',
    cgroup2,
    [
      { path: 'cgroup.stat', format: 'keyed', keys: ['nr_descendants'] },
      number('cgroup.max.depth'),
      { path: 'cgroup.procs', format: 'occupied' },
    ],
  ]);

const BURST = 250;
const ALIVE = 50;

/**
 * Fifty at a time, made and removed as fast as the kernel can, in bursts: the next one begins at a line. It writes a
 * line before each, so that some of every burst are seen however busy the machine is. The last three stay.
 */
const CHURN = `
  $| = 1;
  my $root = $ARGV[0];
  for my $i (1 .. 10000) {
    if ($i % ${String(BURST)} == 1) { print "burst\\n"; <STDIN> }
    mkdir "$root/c$i" or die "$!";
    if ($i > ${String(ALIVE)}) { rmdir "$root/c" . ($i - ${String(ALIVE)}) or die "$!" }
  }
  for my $i (9951 .. 9997) { rmdir "$root/c$i" or die "$!" }`;

test.each(hierarchies)(
  'ten thousand cgroups of %s are created and removed while they are followed, read, sampled, signalled and killed, and all is right at the end',
  async (_name, mount, files) => {
    const root = makeCgroup(mount);
    closing(new native.ProcessExit([process.pid], () => undefined)); // waiter and armer come with the first watch, and stay
    await once(spawn('true'), 'close'); // what the runtime keeps after its first child
    const before = { descriptors: openDescriptors(), threads: threads() };
    const tree = new native.CgroupTree(root, () => undefined);
    const handle = new native.CgroupHandle(root);
    const table = new native.CgroupTable(files, { maxOpenFiles: 60 }); // some rows keep theirs, some do not
    const rows = new Map<string, number>();
    const came = new Set<string>();
    const vanished = { read: 0, sampled: 0 };
    const churn = spawn('perl', ['-e', CHURN, root], { stdio: ['pipe', 'pipe', 'inherit'] });
    let bursts = 0;
    churn.stdout.on('data', (lines: Buffer) => (bursts += lines.toString().split('\n').length - 1));
    const ended = once(churn, 'exit');
    after(async () => {
      churn.kill('SIGKILL');
      await ended;
    });

    /** One of them at a time, until it vanishes. */
    let sampler: SamplerWatch | undefined;
    const sample = (path: string) => {
      const [first] = files;
      if (sampler?.live === true || first === undefined) return;
      const spec = { ...first, path: `${root}/${path}/${first.path}` };
      sampler = new native.Sampler({ files: [spec], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [1 << 20] }, (bits) => {
        expect(bits).toBe(native.WAKE.GONE);
        vanished.sampled++;
      });
    };
    after(() => {
      sampler?.close();
    });

    const add = (path: string) => {
      came.add(path);
      try {
        rows.set(path, table.add(`${root}/${path}`));
        sample(path);
      } catch (error) {
        expect(['ENOENT', 'ENODEV']).toContain((error as NodeJS.ErrnoException).code);
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
      const errnos = [...rows.values()].map((row) => errors[row]);
      expect(errnos.filter((error) => error !== 0 && error !== ENODEV)).toEqual([]);
      vanished.read += errnos.filter((error) => error === ENODEV).length;
      const unknown = (row: number) => values.subarray(row * table.columns, (row + 1) * table.columns).some(Number.isNaN);
      expect([...rows.values()].filter((row) => errors[row] === 0 && unknown(row))).toEqual([]);
      return errnos;
    };

    let begun = 0;
    while (churn.exitCode === null && churn.signalCode === null) {
      await turn();
      read(); // before follow() drops the vanished ones
      follow();
      expect(handle.signal(constants.signals.SIGKILL)).toMatchObject({ found: 0, signalled: 0, errno: 0 });
      expect(handle.stop(2)).toEqual({ rounds: 1, settled: true, errno: 0 });
      if (bursts === begun) continue;
      begun = bursts;
      follow(); // all of the last burst that are there
      churn.stdin.write('\n');
    }
    expect(churn.exitCode).toBe(0);
    follow();
    expect([...rows.keys()].sort()).toEqual(['c10000', 'c9998', 'c9999']);
    expect(read()).toEqual([0, 0, 0]);
    expect([tree.live, table.size]).toEqual([true, 3]);
    expect(came.size).toBeGreaterThanOrEqual((10_000 / BURST - 1) * ALIVE);
    expect(passes).toBeGreaterThanOrEqual(10_000 / BURST);
    expect(vanished.read).toBeGreaterThan(0);
    expect(vanished.sampled).toBeGreaterThan(0);
    sampler?.close();
    for (const owner of [tree, handle, table]) owner.close();
    await until('everything is given back', () => openDescriptors() <= before.descriptors && threads() <= before.threads);
  },
  120_000,
);
