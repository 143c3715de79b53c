import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { badnessPages, oomOrder, oomScoreOf } from '../../../src/core/oom-badness.js';
import { UnavailableError } from '../../../src/errors.js';
import { domainOf, groupFinder, walk, type OomRoots } from '../../../src/host/linux/oom-killer/domain.js';
import { parseMemory, parseTask, type ParsedTask, type ProcessTexts } from '../../../src/host/linux/oom-killer/task.js';
import { readOomKiller } from '../../../src/host/linux/oom-killer/killer.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures/linux/oom-killer');
const captured = (name: string): ProcessTexts => {
  const text = (file: string): string => readFileSync(join(FIXTURES, `${name}.${file}`), 'utf8');
  return { status: text('status'), stat: text('stat'), score: text('oom_score'), scoreAdj: text('oom_score_adj') };
};
const KiB = 1024n;
const MiB = 1024n * KiB;
const GiB = 1024n * MiB;

describe('the texts of a process', () => {
  test.each<[rule: string, texts: ProcessTexts, parsed: Partial<ParsedTask>]>([
    [
      'a name with parentheses, a newline and a terminal sequence',
      captured('odd-name'),
      {
        name: 'a) R?[31m\\n(b',
        kernelThread: false,
        memory: { rssBytes: 77_392n * KiB, swapBytes: 0n, pageTableBytes: 208n * KiB },
        oomScore: 1002,
        oomScoreAdj: 500,
        startTicks: 150_009n,
        memoryNodes: '0',
      },
    ],
    ['a kernel thread', captured('kernel-thread'), { name: 'kthreadd', kernelThread: true, memory: undefined, oomScore: 0 }],
    ['one that has ended', captured('zombie'), { kernelThread: false, memory: undefined, threads: 1 }],
    ['its first thread has ended, another lives', captured('leader-ended'), { memory: undefined, threads: 2, oomScore: 666 }],
    ['oom_score unreadable', { ...captured('zombie'), score: undefined }, { oomScore: undefined }],
    ['a negative adjustment', { ...captured('zombie'), scoreAdj: '-1000\n' }, { oomScoreAdj: -1000 }],
  ])('%s', (_rule, texts, parsed) => {
    expect(parseTask(texts)).toMatchObject(parsed);
  });

  test.each<[rule: string, texts: ProcessTexts]>([
    ['stat cut off', { ...captured('zombie'), stat: '15667 (python3) Z 15625' }],
    ['empty, as when it ends in between', { status: '', stat: '', score: '', scoreAdj: '' }],
    ['an adjustment that is no number', { ...captured('zombie'), scoreAdj: 'max' }],
  ])('no process: %s', (_rule, texts) => {
    expect(parseTask(texts)).toBeUndefined();
  });

  test.each<[rule: string, status: string, memory: ReturnType<typeof parseMemory>]>([
    [
      'swap counts',
      'VmRSS:\t    1024 kB\nVmPTE:\t      40 kB\nVmSwap:\t     512 kB\n',
      { rssBytes: MiB, swapBytes: 512n * KiB, pageTableBytes: 40n * KiB },
    ],
    ['a kernel without swap', 'VmRSS:\t0 kB\nVmPTE:\t8 kB\n', { rssBytes: 0n, swapBytes: 0n, pageTableBytes: 8n * KiB }],
    [
      "a thread's status has the memory of its process",
      readFileSync(join(FIXTURES, 'leader-ended.task.status'), 'utf8'),
      {
        rssBytes: 11_620n * KiB,
        swapBytes: 0n,
        pageTableBytes: 84n * KiB,
      },
    ],
    ['none', 'Name:\tkthreadd\n', undefined],
  ])('memory: %s', (_rule, status, memory) => {
    expect(parseMemory(status)).toEqual(memory);
  });

  test('the captured score is what the formula gives', () => {
    const { memory, oomScoreAdj, oomScore } = parseTask(captured('odd-name')) ?? {};
    const pages = 25_276_502_016n / 4096n; // MemTotal of that machine
    expect(memory && oomScoreOf(badnessPages(memory, oomScoreAdj ?? 0, pages, 4096n), pages)).toBe(BigInt(oomScore ?? 0));
  });
});

/** A /proc and a cgroup hierarchy of these files: what the kernel would show. */
function rootsOf(version: 1 | 2, files: Readonly<Record<string, string>>, directories: readonly string[] = []): OomRoots {
  const root = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const directory of directories) mkdirSync(join(root, directory), { recursive: true });
  const meminfo = { 'proc/meminfo': 'MemTotal:        8388608 kB\nMemFree: 1 kB\nSwapTotal:       2097152 kB\n' };
  for (const [file, text] of Object.entries({ ...meminfo, ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return {
    proc: join(root, 'proc'),
    hierarchy: { version, controller: version === 1 ? 'memory' : '', mountPoint: join(root, 'cgroup'), root: '/' },
  };
}

describe('the domain', () => {
  const NONE = '9223372036854771712\n';
  const v1 = (limit: string, both: string, swappiness = '60\n'): Record<string, string> => ({
    'cgroup/w/memory.limit_in_bytes': limit,
    'cgroup/w/memory.memsw.limit_in_bytes': both,
    'cgroup/w/memory.swappiness': swappiness,
  });
  const v2 = (max: string, swap: string, swappiness = '60\n'): Record<string, string> => ({
    'cgroup/w/memory.max': max,
    'cgroup/w/memory.swap.max': swap,
    'proc/sys/vm/swappiness': swappiness,
  });
  const M256 = '268435456\n';
  const machine = { cgroup: undefined, totalBytes: 10n * GiB };

  test.each<[rule: string, version: 1 | 2, files: Record<string, string>, domain: ReturnType<typeof domainOf>]>([
    ['v1, no swap limit: all the swap of the machine', 1, v1(M256, NONE), { cgroup: '/w', totalBytes: 256n * MiB + 2n * GiB }],
    ['v1, memory and swap together', 1, v1(M256, '268439552\n'), { cgroup: '/w', totalBytes: 256n * MiB + 4096n }],
    ['v1, swappiness 0: none', 1, v1(M256, NONE, '0\n'), { cgroup: '/w', totalBytes: 256n * MiB }],
    ['v1 without swap accounting', 1, { 'cgroup/w/memory.limit_in_bytes': M256 }, { cgroup: '/w', totalBytes: 256n * MiB }],
    ['v1, unlimited: the machine', 1, v1(NONE, NONE), machine],
    ['v2, swap unlimited', 2, v2(M256, 'max\n'), { cgroup: '/w', totalBytes: 256n * MiB + 2n * GiB }],
    ['v2, some swap', 2, v2(M256, '4096\n'), { cgroup: '/w', totalBytes: 256n * MiB + 4096n }],
    ['v2, none', 2, v2(M256, '0\n'), { cgroup: '/w', totalBytes: 256n * MiB }],
    ['v2, vm.swappiness 0', 2, v2(M256, 'max\n', '0\n'), { cgroup: '/w', totalBytes: 256n * MiB }],
    ['v2, unlimited: the machine', 2, v2('max\n', 'max\n'), machine],
    ['a limit of nothing', 2, v2('0\n', '0\n'), { cgroup: '/w', totalBytes: 0n }],
    [
      'unlimited, but what is above it is not',
      2,
      { ...v2('max\n', '0\n'), 'cgroup/memory.max': M256 },
      { cgroup: '/', totalBytes: 256n * MiB },
    ],
  ])('%s', (_rule, version, files, domain) => {
    expect(domainOf('/w', rootsOf(version, files))).toEqual(domain);
  });

  test('the limit above does not narrow its own', () => {
    const roots = rootsOf(2, { ...v2('max\n', '0\n'), 'cgroup/w/a/memory.max': '8589934592\n', 'cgroup/w/memory.max': M256 });
    expect(domainOf('/w/a', roots)).toEqual({ cgroup: '/w/a', totalBytes: 8n * GiB });
  });

  test('walked as the kernel does: a parent first, then the older child with all below it', () => {
    const roots = rootsOf(2, {}, ['cgroup/w/b/c', 'cgroup/w/a', 'cgroup/w/d']);
    const walked = roots.hierarchy ? walk(roots.hierarchy, '/w') : [];
    // On cgroupfs the inode grows with each new directory; elsewhere it is some number.
    const inode = (name: string): number => statSync(`${roots.hierarchy?.mountPoint ?? ''}/w/${name}`).ino;
    const children = ['a', 'b', 'd'].sort((one, other) => inode(one) - inode(other)).map((name) => `/w/${name}`);
    expect(walked).toEqual(['/w', ...children.flatMap((path) => (path === '/w/b' ? [path, '/w/b/c'] : [path]))]);
  });
});

describe('memory.oom.group', () => {
  const set = (...paths: string[]): Record<string, string> =>
    Object.fromEntries(['/a', '/a/b', '/a/b/c'].map((path) => [`cgroup${path}/memory.oom.group`, paths.includes(path) ? '1\n' : '0\n']));

  test.each<[rule: string, files: Record<string, string>, domain: string | undefined, group: string | undefined]>([
    ['not set', set(), undefined, undefined],
    ['its own', set('/a/b/c'), undefined, '/a/b/c'],
    ['of several the highest', set('/a', '/a/b/c'), undefined, '/a'],
    ['not above the memcg that is out of memory', set('/a', '/a/b/c'), '/a/b', '/a/b/c'],
    ['that memcg itself counts', set('/a', '/a/b'), '/a/b', '/a/b'],
    ['outside it', set('/a'), '/a/b', undefined],
  ])('%s', (_rule, files, domain, group) => {
    expect(groupFinder(domain, rootsOf(2, files))('/a/b/c')).toBe(group);
  });

  test('v1 has none, whatever a file says', () => {
    expect(groupFinder(undefined, rootsOf(1, set('/a')))('/a/b/c')).toBeUndefined();
  });
});

describe('this machine', () => {
  /** Those whose score is not what the formula gives; ±1: their value may stand on an edge. */
  function wrong(): number[] {
    const reading = readOomKiller(undefined);
    const pages = reading.machineBytes / reading.pageSize;
    return oomOrder(reading).candidates.flatMap(({ pointsBytes, task }) => {
      const difference = Number(oomScoreOf(pointsBytes / reading.pageSize, pages)) - (task.oomScore ?? 0);
      return Math.abs(difference) > 1 ? task.pid : [];
    });
  }

  test('every process has the score that the kernel states', () => {
    // One that grows between two of its files is wrong once, not three times.
    const readings = [wrong(), wrong(), wrong()];
    expect(readings[0]?.filter((pid) => readings.every((pids) => pids.includes(pid)))).toEqual([]);
  });

  test('every process is looked at', () => {
    const { tasks } = readOomKiller(undefined);
    const seen = new Set(tasks.map(({ pid }) => pid));
    expect([1, process.ppid].filter((pid) => !seen.has(pid))).toEqual([]);
    expect(Math.abs(tasks.length - readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length)).toBeLessThan(50);
  });

  test('whoever asks is left out', () => {
    expect(readOomKiller(undefined).tasks.map(({ pid }) => pid)).not.toContain(process.pid);
  });

  test('a memcg that is not there', () => {
    expect(() => readOomKiller('/evictd-test-nowhere')).toThrow(UnavailableError);
    expect(() => readOomKiller('/evictd-test-nowhere')).toThrow(/evictd-test-nowhere does not exist/);
  });
});
