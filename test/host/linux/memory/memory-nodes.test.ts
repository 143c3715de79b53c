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

test('each node of a machine with several', () => {
  expect(machine('0,2\n', { node0: 100, node1: 200, node2: 300 })).toEqual([
    { node: 0, availableBytes: 100n * MIB, capacityBytes: 1000n * MIB },
    { node: 2, availableBytes: 300n * MIB, capacityBytes: 1000n * MIB },
  ]);
});

test('none on a machine with one, and none where a file is missing', () => {
  expect([machine('0\n', { node0: 100 }), machine('0-1\n', { node0: 100 }), readMemoryNodes('/nonexistent')]).toEqual([[], [], []]);
});

test.each([
  [2, 'cpuset.mems.effective'],
  [1, 'cpuset.effective_mems'],
] as const)('the nodes that a cpuset of cgroup v%i permits', (version, file) => {
  const directory = temporaryDirectory();
  const controller = { version, controller: version === 1 ? 'cpuset' : '', mountPoint: directory, root: '/' } as const;
  mkdirSync(join(directory, 'web'));
  writeFileSync(join(directory, 'web', file), '1\n');
  writeFileSync(join(directory, 'has_memory'), '0-1\n');
  const boundNodes = openBoundNodes(controller, directory);
  expect([boundNodes('/web'), boundNodes('/db'), openBoundNodes(undefined, directory)('/web')]).toEqual([[1], undefined, undefined]);
  writeFileSync(join(directory, 'has_memory'), '1\n');
  expect(openBoundNodes(controller, directory)('/web')).toBeUndefined();
});

test('what the nodes of a bound cgroup have together; none where it is not bound, or a node cannot be read', () => {
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
