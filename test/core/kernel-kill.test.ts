import { expect, test } from 'vitest';
import { concernsNode, kernelKillMessage, workloadHolding, type KernelKill } from '../../src/core/kernel-kill.js';

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
  ['a cgroup by its own', '/node', '/node', true],
  ['not by one whose name begins the same', '/node2/batch', '/node', false],
  ['not by who lives above', '/', '/node', false],
  ['not where it is not known which', undefined, '/node', false],
])('%s', (_rule, cgroup, node, concerned) => {
  expect(concernsNode({ ...kill, cgroup }, node)).toBe(concerned);
});

test.each<[rule: string, cgroup: string | undefined, roots: string[], path: string | undefined]>([
  ['the child of the source', '/node/batch/inner', ['/node'], '/node/batch'],
  ['the child itself', '/node/batch', ['/node'], '/node/batch'],
  ['of nested sources the innermost', '/node/batch/inner/x', ['/node', '/node/batch'], '/node/batch/inner'],
  ['of the root', '/node/batch', ['/'], '/node'],
  ['the source itself is no workload', '/node', ['/node'], undefined],
  ['outside all sources', '/other/batch', ['/node'], undefined],
  ['not known where', undefined, ['/node'], undefined],
])('the workload that lost a process: %s', (_rule, cgroup, roots, path) => {
  expect(workloadHolding(cgroup, roots)?.path).toBe(path);
  expect(workloadHolding(cgroup, roots)?.name).toBe(path?.split('/').at(-1));
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
])('%#: is said', (said, workload, message) => {
  expect(kernelKillMessage(said, workload)).toBe(message);
});
