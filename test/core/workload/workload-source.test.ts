import { expect, test } from 'vitest';
import { cgroupsOf, sourceText, type WorkloadSourceSpec } from '../../../src/workloads/kinds/source-spec.js';

const cgroups = (...paths: string[]): WorkloadSourceSpec[] => paths.map((cgroup) => ({ cgroup }));
const systemd = (slices: readonly string[], units: readonly string[] = []): WorkloadSourceSpec[] => [{ systemd: { slices, units } }];
const userUnit = '/user.slice/user-1000.slice/user@1000.service/app.slice/editor.service';

test.each<[rule: string, cgroup: string, sources: readonly WorkloadSourceSpec[], path: string | undefined, name?: string]>([
  ['the child of the source', '/node/batch/inner', cgroups('/node'), '/node/batch'],
  ['the child itself', '/node/batch', cgroups('/node'), '/node/batch'],
  ['the innermost of nested sources names it', '/node/batch/inner/x', cgroups('/node', '/node/batch'), '/node/batch/inner'],
  ['a source of the root names it', '/node/batch', cgroups('/'), '/node'],
  ['the cgroup of the source is not a workload itself', '/node', cgroups('/node'), undefined],
  ['outside all sources', '/other/batch', cgroups('/node'), undefined],
  ['a unit of the slice', '/batch.slice/a.service', systemd(['batch.slice']), '/batch.slice/a.service'],
  ['a part of a unit', '/batch.slice/a.service/worker/1', systemd(['batch.slice']), '/batch.slice/a.service'],
  ['a unit of a slice below', '/batch.slice/batch-b.slice/c.scope', systemd(['batch.slice']), '/batch.slice/batch-b.slice/c.scope'],
  ['the source of the slice above does not name it', '/batch.slice/a.service', systemd(['batch-b.slice']), undefined],
  ['a slice is not a workload', '/batch.slice/batch-b.slice', systemd(['batch.slice']), undefined],
  ['a mount is not a workload', '/batch.slice/mnt.mount', systemd(['batch.slice']), undefined],
  ['a unit is found by its name, wherever it is', '/x.slice/a.service', systemd([], ['a.service']), '/x.slice/a.service'],
  ['a unit is found by a pattern, wherever it is', '/x.slice/web@1.service', systemd([], ['web@*.service']), '/x.slice/web@1.service'],
  ['a unit of another name is not found', '/x.slice/b.service', systemd([], ['a.service']), undefined],
  [
    'a name that systemd escapes',
    '/x.slice/_memory.service',
    systemd([], ['memory.service']),
    '/x.slice/_memory.service',
    'memory.service',
  ],
  ["a user's unit", userUnit, systemd(['user.slice']), userUnit],
  ["a user's unit by name", userUnit, systemd([], ['editor.service']), userUnit],
  ['the manager of a user itself', userUnit.replace(/\/app.*/, ''), systemd(['user.slice']), userUnit.replace(/\/app.*/, '')],
  ['every unit', '/system.slice/a.service', systemd(['-.slice']), '/system.slice/a.service'],
  [
    'a unit in a workload of a cgroup source is the workload',
    '/b.slice/a.service/x',
    [...cgroups('/'), ...systemd(['b.slice'])],
    '/b.slice/a.service',
  ],
  [
    'a cgroup in a unit of a systemd source is the workload',
    '/b.slice/a.service/x/y',
    [...systemd(['b.slice']), ...cgroups('/b.slice/a.service')],
    '/b.slice/a.service/x',
  ],
])('the workload that contains a cgroup: %s', (_rule, cgroup, sources, path, name = path?.split('/').at(-1)) => {
  const found = cgroupsOf(sources);
  expect(found.holding(cgroup)).toEqual(path === undefined ? undefined : { name, path });
  if (path !== undefined) expect([found.nameOf(path), found.nameOf(`${path}/deeper`)]).toEqual([name, undefined]);
});

test('a workload that two sources name, or that is in another slice, is listed once', () => {
  const sources = [...systemd(['a-b.slice', 'a.slice', 'c.slice']), ...systemd(['a.slice']), ...cgroups('/x', '/x/', '/y')];
  expect(cgroupsOf(sources)).toMatchObject({ parents: ['/x', '/y'], slices: ['/a.slice', '/c.slice'], namesUnits: false });
});

test('messages name the sources', () => {
  expect([...cgroups('/x'), ...systemd(['a.slice'], ['b.service'])].map(sourceText)).toEqual(['/x', 'systemd a.slice, b.service']);
});
