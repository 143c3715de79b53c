import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { domainOf, groupFinder, walk, type OomRoots } from '../../../../src/host/linux/oom/oom-domain.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const MiB = 1024n * 1024n;
const GiB = 1024n * MiB;

/** A /proc and a cgroup hierarchy of these files: what the kernel would show. */
function rootsOf(version: 1 | 2, files: Readonly<Record<string, string>>, directories: readonly string[] = []): OomRoots {
  const root = temporaryDirectory();
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

describe('the cgroup whose processes the OOM killer compares', () => {
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

  test('is that of the limit itself, whatever the limit above', () => {
    const roots = rootsOf(2, { ...v2('max\n', '0\n'), 'cgroup/w/a/memory.max': '8589934592\n', 'cgroup/w/memory.max': M256 });
    expect(domainOf('/w/a', roots)).toEqual({ cgroup: '/w/a', totalBytes: 8n * GiB });
  });

  test('is walked as by the kernel: a parent first, then the older child with all below it', () => {
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
    ['no cgroup has it set', set(), undefined, undefined],
    ['the cgroup of the process has it set', set('/a/b/c'), undefined, '/a/b/c'],
    ['the highest of several counts', set('/a', '/a/b/c'), undefined, '/a'],
    ['a cgroup above the memcg that is out of memory does not count', set('/a', '/a/b/c'), '/a/b', '/a/b/c'],
    ['the memcg that is out of memory counts, too', set('/a', '/a/b'), '/a/b', '/a/b'],
    ['outside it', set('/a'), '/a/b', undefined],
  ])('%s', (_rule, files, domain, group) => {
    expect(groupFinder(domain, rootsOf(2, files))('/a/b/c')).toBe(group);
  });

  test('v1 has none, whatever the file contains', () => {
    expect(groupFinder(undefined, rootsOf(1, set('/a')))('/a/b/c')).toBeUndefined();
  });
});
