import { expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import { numaCheck } from '../../../../src/features/doctor/checks/numa.js';
import { cgroupFacts, expectCheck, workloadFacts } from '../support.js';

const NODES = '/sys/devices/system/node';
const meminfo = (node: number, freeKib: number): string =>
  `Node ${String(node)} MemTotal:        8388608 kB\nNode ${String(node)} MemFree:         ${String(freeKib)} kB\n`;
const MACHINE = { [`${NODES}/has_memory`]: '0-1\n', [`${NODES}/node1/meminfo`]: meminfo(1, 1_048_576) };
const V2 = '/sys/fs/cgroup';
const V1 = '/sys/fs/cgroup/cpuset';
const listed = ['web', 'db'].map((name) => ({ name, path: `/batch.slice/${name}`, hindrance: undefined }));

test.each<[rule: string, version: 1 | 2, files: Readonly<Record<string, string>>, status: CheckStatus, summary: RegExp]>([
  ['one node', 2, { [`${NODES}/has_memory`]: '0\n' }, 'ok', /^one memory node$/],
  ['a kernel without NUMA', 2, {}, 'ok', /^one memory node$/],
  ['no cpuset controller', 2, MACHINE, 'ok', /^2 memory nodes, and no workload/],
  ['all nodes', 2, { ...MACHINE, [`${V2}/batch.slice/web/cpuset.mems.effective`]: '0-1\n' }, 'ok', /no workload/],
  ['all nodes, listed', 2, { ...MACHINE, [`${V2}/batch.slice/web/cpuset.mems.effective`]: '0,1\n' }, 'ok', /no workload/],
  [
    'bound to one',
    2,
    { ...MACHINE, [`${V2}/batch.slice/web/cpuset.mems.effective`]: '1\n' },
    'degraded',
    /^2 memory nodes; web is bound to node 1 \(1GiB of 8GiB available\): when these are full, the kernel ends/,
  ],
  [
    'bound on v1',
    1,
    { ...MACHINE, [`${V1}/batch.slice/db/cpuset.effective_mems`]: '0\n' },
    'degraded',
    /^2 memory nodes; db is bound to node 0: /,
  ],
  [
    'several',
    2,
    {
      ...MACHINE,
      [`${NODES}/has_memory`]: '0-3\n',
      [`${V2}/batch.slice/web/cpuset.mems.effective`]: '0-1\n',
      [`${V2}/batch.slice/db/cpuset.mems.effective`]: '2-3\n',
    },
    'degraded',
    /^4 memory nodes; web is bound to node 0 and node 1 \(1GiB of 8GiB available\), as are 1 more: /,
  ],
])('workloads.numa: %s', (_rule, version, files, status, summary) => {
  const cgroup = cgroupFacts({ memory: { version, mountPoint: version === 2 ? V2 : '/sys/fs/cgroup/memory' } });
  const facts = { kernelFile: (path: string) => files[path], cgroup, workloads: workloadFacts({ listed }) };
  expectCheck(numaCheck.judge(facts)[0], 'workloads.numa', status, summary);
});

test('the details have each bound workload and its nodes', () => {
  const files: Readonly<Record<string, string>> = { ...MACHINE, [`${V2}/batch.slice/web/cpuset.mems.effective`]: '1\n' };
  const facts = { kernelFile: (path: string) => files[path], cgroup: cgroupFacts(), workloads: workloadFacts({ listed }) };
  expect(numaCheck.judge(facts)[0]?.details).toEqual({ nodes: [0, 1], bound: [{ path: '/batch.slice/web', nodes: [1] }] });
});
