import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBoundMemory, openBoundNodes, readMemoryNodes } from '../../../../src/host/linux/memory/memory-nodes.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const MIB = 1n << 20n;

function machine(nodes: string, files: Readonly<Record<string, number>>): ReturnType<typeof readMemoryNodes> {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'has_memory'), nodes);
  writeFileSync(join(directory, 'zoneinfo'), '');
  for (const [node, free] of Object.entries(files)) {
    mkdirSync(join(directory, node));
    writeFileSync(join(directory, node, 'meminfo'), `Node 0 MemTotal: 1024000 kB\nNode 0 MemFree: ${String(free * 1024)} kB\n`);
  }
  return readMemoryNodes(directory, join(directory, 'zoneinfo'));
}

test('each memory node of a machine with several is read', () => {
  expect(machine('0,2\n', { node0: 100, node1: 200, node2: 300 })).toEqual([
    { node: 0, availableBytes: 100n * MIB, capacityBytes: 1000n * MIB },
    { node: 2, availableBytes: 300n * MIB, capacityBytes: 1000n * MIB },
  ]);
});

test('a machine with one memory node has no list, and neither has one with a missing file', () => {
  expect([machine('0\n', { node0: 100 }), machine('0-1\n', { node0: 100 }), readMemoryNodes('/nonexistent')]).toEqual([[], [], []]);
});

test.each([
  [2, 'cpuset.mems.effective'],
  [1, 'cpuset.effective_mems'],
] as const)('the memory nodes that a cpuset of cgroup v%i permits are read', (version, file) => {
  const directory = temporaryDirectory();
  const controller = { version, controller: version === 1 ? 'cpuset' : '', mountPoint: directory, root: '/' } as const;
  mkdirSync(join(directory, 'web'));
  writeFileSync(join(directory, 'web', file), '1\n');
  writeFileSync(join(directory, 'has_memory'), '0-1\n');
  const boundNodes = openBoundNodes({ cpuset: controller, memory: controller }, { directory });
  const none = openBoundNodes({ cpuset: undefined, memory: controller }, { directory });
  expect([boundNodes?.('/web'), boundNodes?.('/db'), none?.('/web')]).toEqual([[1], 'unknown', 'unknown']);
  writeFileSync(join(directory, 'has_memory'), '1\n');
  expect(openBoundNodes({ cpuset: controller, memory: controller }, { directory })).toBeUndefined();
});

test('a cgroup v2 without a cpuset of its own has that of the nearest ancestor', () => {
  const directory = temporaryDirectory();
  const cpuset = { version: 2, controller: '', mountPoint: directory, root: '/' } as const;
  mkdirSync(join(directory, 'a/b/c'), { recursive: true });
  writeFileSync(join(directory, 'has_memory'), '0-1\n');
  writeFileSync(join(directory, 'cpuset.mems.effective'), '0-1\n');
  writeFileSync(join(directory, 'a/cpuset.mems.effective'), '0\n');
  const boundNodes = openBoundNodes({ cpuset, memory: cpuset }, { directory });
  expect(['/a/b/c', '/a', '/other', '/'].map((path) => boundNodes?.(path))).toEqual([[0], [0], undefined, undefined]); // all, not unknown
  writeFileSync(join(directory, 'a/b/cpuset.mems.effective'), '1\n');
  expect(boundNodes?.('/a/b/c')).toEqual([1]);
});

test('on cgroup v1 a process below a slice shows the cpuset, and one that cannot be read shows nothing', () => {
  const directory = temporaryDirectory();
  const [memory, cpuset] = ['memory', 'cpuset'].map(
    (controller) => ({ version: 1, controller, mountPoint: join(directory, controller), root: '/' }) as const,
  );
  for (const path of ['memory/a.slice/b.scope', 'memory/gone', 'memory/all', 'proc/42', 'proc/43'])
    mkdirSync(join(directory, path), { recursive: true });
  writeFileSync(join(directory, 'has_memory'), '0-1\n');
  writeFileSync(join(directory, 'memory/a.slice/cgroup.procs'), '');
  writeFileSync(join(directory, 'memory/a.slice/b.scope/cgroup.procs'), '42\n');
  writeFileSync(join(directory, 'memory/gone/cgroup.procs'), '0\n'); // in no pid namespace that is visible
  writeFileSync(join(directory, 'memory/all/cgroup.procs'), '43\n');
  writeFileSync(join(directory, 'proc/42/status'), 'Mems_allowed_list:\t1\n');
  writeFileSync(join(directory, 'proc/43/status'), 'Mems_allowed_list:\t0-1\n');
  const boundNodes = openBoundNodes({ cpuset, memory }, { directory, proc: join(directory, 'proc') });
  expect(['/a.slice', '/gone', '/all', '/none'].map((path) => boundNodes?.(path))).toEqual([[1], 'unknown', undefined, 'unknown']);
});

test('on cgroup v1 a process of the workload shows the nodes of its cpuset, wherever that is', () => {
  const directory = temporaryDirectory();
  const [memory, cpuset] = ['memory', 'cpuset'].map(
    (controller) => ({ version: 1, controller, mountPoint: join(directory, controller), root: '/' }) as const,
  );
  for (const path of ['memory/web', 'cpuset/web', 'proc/42']) mkdirSync(join(directory, path), { recursive: true });
  writeFileSync(join(directory, 'has_memory'), '0-1\n');
  writeFileSync(join(directory, 'memory/web/cgroup.procs'), '42\n43\n');
  writeFileSync(join(directory, 'cpuset/web/cpuset.effective_mems'), '0-1\n');
  writeFileSync(join(directory, 'proc/42/status'), 'Name:\tweb\nMems_allowed:\t00000002\nMems_allowed_list:\t1\n');
  expect(openBoundNodes({ cpuset, memory }, { directory, proc: join(directory, 'proc') })?.('/web')).toEqual([1]);
});

test('the memory of the nodes of a bound cgroup is added up; it is missing if the cgroup is not bound or a node is unreadable', () => {
  const nodes = [0, 1, 2].map((node) => ({ node, availableBytes: BigInt(node) * MIB, capacityBytes: 10n * MIB }));
  let times = 0;
  const read = openBoundMemory(
    (path) => ({ '/two': [1, 2], '/gone': [1, 3] })[path],
    () => {
      times += 1;
      return nodes;
    },
  );
  expect(['/two', '/all', '/gone'].map(read)).toEqual([{ availableBytes: 3n * MIB, capacityBytes: 20n * MIB }, undefined, undefined]);
  expect(times).toBe(1);
});
