import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

/**
 * Files as cgroup v2 writes them, in a directory of their own: on a machine with v1 there is no memory controller to
 * ask.
 */
function hierarchyOf(populated: Readonly<Record<string, 0 | 1>>): string {
  const mount = temporaryDirectory();
  for (const [name, count] of Object.entries(populated)) {
    const directory = join(mount, 'w', name);
    mkdirSync(directory, { recursive: true });
    const files = {
      'memory.current': '12288\n',
      'memory.stat': 'inactive_file 4096\n',
      'memory.low': '0\n',
      'memory.min': '0\n',
      'memory.max': 'max\n',
      'cgroup.events': `populated ${String(count)}\nfrozen 0\n`,
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
  }
  return mount;
}

test('on v2 cgroups without processes, which a pass omits, are listed with their memory', () => {
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: 2 } as const;
  const mountPoint = hierarchyOf({ web: 1, ended: 0 });
  const source = openWorkloads({ workloads: [{ cgroup: '/w' }], rules: [] }, native, {
    identity,
    hierarchy: { version: 2, controller: '', mountPoint, root: '/' },
  });
  const found = source.candidates();
  const vacant = found.vacant?.();
  source.close();
  expect(found.usages.map(({ workload }) => workload.name)).toEqual(['web']);
  expect(vacant).toMatchObject([{ workload: { name: 'ended', path: '/w/ended' }, stats: { workingSetBytes: 8192n, usageBytes: 12288n } }]);
});
