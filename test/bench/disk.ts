import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Workload } from '../../src/core/workload/workload.js';
import { SignalSampler } from '../../src/host/linux/sampling/signal-sampler.js';
import { native } from '../../src/native/index.js';
import { DirectoryMeasurement } from '../../src/workloads/disk/directory-measurement.js';
import { measureDisks } from '../../src/workloads/disk/disk-measurement.js';
import { FilesystemTrees } from '../../src/workloads/disk/filesystem-trees.js';
import { threshold, workload } from '../core/support.js';
import { loopFilesystem } from '../support/loop-filesystem.js';
import { atMost, type Bench, type Benchmark, type Figure, type Result } from './benchmark.js';
import { threadsPercent } from './threads.js';
import { SCRATCH, WORKLOADS } from './tree.js';
import { watchingTurns, type Blocked } from './turns.js';

const FILES = 1_000_000;
const DIRECTORIES = 100;
const MIN_INODES = FILES + WORKLOADS * (DIRECTORIES + 2);
const REST_MIB = 64;
const REST_MS = 20_000;

/** Cost of measuring workloads on a full disk, and of watching a disk with free space. */
export const disk: Benchmark = {
  name: 'disk',
  what: 'what workloads hold on a disk, a million files, and what watching a disk costs',
  run: async (bench: Bench): Promise<Result> => {
    const rest = await samplersPercent(bench);
    const root = millionFiles(bench);
    const paths = readdirSync(root).map((name) => join(root, name));
    const duMs = await tookMs(async () => {
      await promisify(execFile)('nice', ['-n', '19', 'ionice', '-c', '3', 'du', '-s', ...paths]);
    });
    const workloads = paths.map((path): Workload => workload(path.slice(root.length + 1), { directories: [{ path }] }));
    const directories = new DirectoryMeasurement(native);
    const trees = new FilesystemTrees(native, { nodefs: root });
    const usage = await watchingTurns(() => directories.refresh(workloads));
    const found = workloads.flatMap(({ path }) => directories.of(path)).reduce((sum, { amount }) => sum + amount.inodes, 0n);
    if (found < BigInt(FILES)) throw new Error(`of ${String(FILES)} files only ${String(found)} were found`);
    const tree = await watchingTurns(() => trees.walk(['nodefs']));
    const nothing = { of: () => ({ layers: [], logs: [] }), problems: [] };
    const deleted = await watchingTurns(async () => {
      await measureDisks(native, undefined, { nodefs: root }, { directories, trees, containers: nothing, images: { holders: [] } });
    });
    const idle = await watchingTurns(() => pause(usage.tookMs));
    return {
      figures: [
        { what: 'usage of 100 workloads, a million files', unit: 's', measured: usage.tookMs / 1e3 },
        { what: '… / du', unit: '×', measured: usage.tookMs / duMs, ...atMost(1.5) },
        ...blockedBy('usage', usage),
        { what: 'largest directories, a million files', unit: 's', measured: tree.tookMs / 1e3 },
        { what: '… / du', unit: '×', measured: tree.tookMs / duMs, ...atMost(1.5) },
        ...blockedBy('largest directories', tree),
        ...blockedBy('deleted files', deleted),
        { what: 'nothing: the loop did not turn for', unit: 'ms', measured: idle.passedMs },
        { what: `both samplers of a disk of ${String(REST_MIB)} MiB at rest`, unit: '% of a core', measured: rest, ...atMost(0.02) },
      ],
      notes: [
        `empty files on a tmpfs, ${String(DIRECTORIES)} directories a workload; du once before, for all workloads, with the kernel's caches as warm, and at the lowest priority for processor and disk as evictd's walks`,
        'the loop is blocked for as long as what runs in it is on a processor between two ticks of a timer every ms; by the clock waiting for a processor is in it, as it is with nothing to do',
        `the samplers' waiter and statfs threads over ${String(REST_MS / 1e3)} s, by the scheduler's count`,
      ],
    };
  },
};

function blockedBy(what: string, { ranMs, passedMs }: Blocked): Figure[] {
  return [
    { what: `${what}: the loop blocked, at most`, unit: 'ms', measured: ranMs, ...atMost(5) },
    { what: '… by the clock', unit: 'ms', measured: passedMs },
  ];
}

/** A tmpfs with one directory a workload. */
function millionFiles(bench: Bench): string {
  const root = mkdtempSync(join(SCRATCH, 'evictd-bench-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=64m,nr_inodes=${String(MIN_INODES + 10)}`, 'evictd-bench', root]);
  bench.cleanup(() => {
    execFileSync('umount', [root]);
    rmSync(root, { recursive: true });
  });
  const each = FILES / WORKLOADS / DIRECTORIES;
  const make = `
    my ($root, $workloads, $directories, $files) = @ARGV;
    for my $w (1 .. $workloads) {
      mkdir "$root/w$w" or die $!;
      for my $d (1 .. $directories) {
        mkdir "$root/w$w/$d" or die $!;
        for my $f (1 .. $files) { open(my $made, '>', "$root/w$w/$d/$f") or die $! }
      }
    }`;
  execFileSync('perl', ['-e', make, root, ...[WORKLOADS, DIRECTORIES, each].map(String)]);
  return root;
}

async function tookMs(task: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await task();
  return performance.now() - from;
}

/** An ext4 without writers, watched with both thresholds as in `run`. */
async function samplersPercent(bench: Bench): Promise<number> {
  const filesystem = loopFilesystem(REST_MIB);
  bench.cleanup(() => {
    filesystem.remove();
  });
  filesystem.mount();
  const stats = new native.FilesystemStats(filesystem.directory);
  const { blocks, bsize, files } = statfsSync(filesystem.directory);
  const stocks = [
    { field: 'availableBytes', unit: 'disk', signal: 'nodefs.available', capacity: blocks * bsize },
    { field: 'inodesFree', unit: 'inodes', signal: 'nodefs.inodesFree', capacity: files },
  ] as const;
  const samplers = stocks.map(({ field, unit, signal, capacity }) => {
    const value = { filesystem: stats, field };
    const sampled = { counts: 'free', value, unit, name: field } as const;
    const sampler = new SignalSampler(native, sampled, () => undefined);
    sampler.arm([threshold(signal, '10%')], { capacity: BigInt(capacity) });
    return sampler;
  });
  const close = (): void => {
    for (const sampler of samplers) sampler.close();
    stats.close();
  };
  bench.cleanup(close);
  await pause(1_000);
  const percent = await threadsPercent(['evictd-waiter', 'evictd-statfs'], REST_MS);
  close();
  return percent;
}
