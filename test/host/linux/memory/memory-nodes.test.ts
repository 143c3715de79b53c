import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readMemoryNodes } from '../../../../src/host/linux/memory/memory-nodes.js';

const MIB = 1n << 20n;

function machine(nodes: string, files: Readonly<Record<string, number>>): ReturnType<typeof readMemoryNodes> {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
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
