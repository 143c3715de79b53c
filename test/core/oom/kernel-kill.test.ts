import { expect, test } from 'vitest';
import { concernsNode, kernelKillMessage, oomLimitOf, type GuardedMemory, type KernelKill } from '../../../src/core/oom/kernel-kill.js';

const kill: KernelKill = {
  constraint: 'memcg',
  limitedCgroup: '/node',
  cgroup: '/node/batch/inner',
  pid: 2546,
  name: 'tail',
  uid: 0,
  anonBytes: 24_248_320n,
  oomScoreAdj: 0,
  sinceBootUs: 1,
};

test.each<[rule: string, cgroup: string | undefined, node: string | undefined, concerned: boolean]>([
  ['the machine is concerned by all', '/x', undefined, true],
  ['the machine is concerned even where it is not known which', undefined, undefined, true],
  ['a cgroup by those further below', '/node/batch/inner', '/node', true],
  ['a cgroup is matched by its own path', '/node', '/node', true],
  ['a cgroup with the same prefix is not a match', '/node2/batch', '/node', false],
  ['a parent cgroup is not a match', '/', '/node', false],
  ['no workload is named where the cgroup is unknown', undefined, '/node', false],
])('%s', (_rule, cgroup, node, concerned) => {
  expect(concernsNode({ ...kill, cgroup }, node)).toBe(concerned);
});

const machine: GuardedMemory = { node: undefined, allocatable: undefined };
const guarded: GuardedMemory = { node: '/node', allocatable: '/pods' };
type Limit = Pick<KernelKill, 'constraint' | 'limitedCgroup'>;
const global: Limit = { constraint: 'global', limitedCgroup: undefined };
const limitOf = (limitedCgroup: string | undefined): Limit => ({ constraint: 'memcg', limitedCgroup });

test.each<[rule: string, kill: Limit, guarded: GuardedMemory, workload: string | undefined, limit: string]>([
  ['the machine that is guarded was out of memory', global, machine, '/a/b', 'node'],
  ['the machine was, where only a cgroup is guarded', global, guarded, '/node/b', 'other'],
  ['the node cgroup was at its limit', limitOf('/node'), guarded, '/node/b', 'node'],
  ['the allocatable cgroup was', limitOf('/pods'), { ...machine, allocatable: '/pods' }, '/pods/b', 'node'],
  ['the limit of a cgroup above the node cgroup', limitOf('/'), guarded, '/node/b', 'other'],
  ['the workload itself was', limitOf('/a/b'), machine, '/a/b', 'workload'],
  ['a cgroup within the workload was', limitOf('/a/b/c'), machine, '/a/b', 'workload'],
  ['a cgroup with the same prefix', limitOf('/a/bc'), machine, '/a/b', 'other'],
  ['the slice around several workloads was', limitOf('/a'), machine, '/a/b', 'other'],
  ['the limit of a cgroup that is not a workload', limitOf('/a/b'), machine, undefined, 'other'],
  ['the kernel did not name the cgroup', limitOf(undefined), machine, '/a/b', 'unknown'],
])('the limit that was hit: %s', (_rule, said, memory, workload, limit) => {
  expect(oomLimitOf(said, memory, workload)).toBe(limit);
});

test.each<[kill: KernelKill, workload: string | undefined, message: string]>([
  [kill, 'batch', "the kernel's OOM killer killed tail (pid 2546, 23.1MiB) of workload batch: /node was at its limit"],
  [kill, undefined, "the kernel's OOM killer killed tail (pid 2546, 23.1MiB) of /node/batch/inner: /node was at its limit"],
  [
    { ...kill, constraint: 'global', limitedCgroup: undefined, cgroup: undefined },
    undefined,
    "the kernel's OOM killer killed tail (pid 2546, 23.1MiB): the machine was out of memory",
  ],
  [
    { ...kill, limitedCgroup: undefined },
    'batch',
    "the kernel's OOM killer killed tail (pid 2546, 23.1MiB) of workload batch: its cgroup was at its limit",
  ],
])('the text of a kernel kill: %#', (said, workload, message) => {
  expect(kernelKillMessage(said, workload)).toBe(message);
});
