import { expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { boundWorkloads, MemoryNodePolicies } from '../../../src/features/policy/bound-workloads.js';
import type { BoundNodes } from '../../../src/host/linux/memory/memory-nodes.js';
import { candidates, threshold, workload } from '../../core/support.js';

/** /db.slice and what is in it is bound to nodes 0 and 1, one cgroup in it to node 0; of /new it is not known. */
const nodes = (path: string): readonly number[] | 'unknown' | undefined => {
  if (path === '/new') return 'unknown';
  if (path === '/db.slice/two.slice/narrow') return [0];
  return path.startsWith('/db.slice') ? [0, 1] : undefined;
};

test.each<[rule: string, isNested: boolean, boundAt: readonly string[]]>([
  ['the uppermost cgroup with the same nodes, on v2', true, ['/db.slice/two.slice/narrow', '/db.slice']],
  ['on v1 a process of one cgroup says nothing about sibling cgroups', false, ['/db.slice/two.slice/narrow', '/db.slice/two.slice/a']],
])('%s', (_rule, isNested, boundAt) => {
  const found = boundWorkloads(['/web', '/new', '/db.slice/two.slice/narrow', '/db.slice/two.slice/a'], nodes, isNested);
  expect(found.map((each) => [each.nodes, each.boundAt])).toEqual([
    [[0], boundAt[0]],
    [[0, 1], boundAt[1]],
  ]);
});

/** Workloads at the paths; /db is bound to node 0 as soon as `isBound`. */
class Machine {
  version = 1;
  paths: readonly string[] = ['/web'];
  isBound = true;
  listings = 0;
  nodes: BoundNodes | undefined = (path) => (path === '/db' && this.isBound ? [0] : undefined);
  readonly #policies = new MemoryNodePolicies(
    undefined,
    {
      version: () => this.version,
      candidates: () => {
        this.listings += 1;
        return candidates(...this.paths.map((path): Parameters<typeof candidates>[0] => [workload(path, { path }), 0n]));
      },
    },
    () => ({ departures: departuresOf('evictd'), thresholds: [threshold('memory.available', '100Mi')] }),
    () => this.nodes,
  );

  tick(second: number, isNew = false): readonly string[] {
    return this.#policies.at(BigInt(second) * 1_000_000_000n, isNew).map(({ name }) => name);
  }
}

test('at rest the workloads are listed once a minute', () => {
  const machine = new Machine();
  for (let second = 0; second < 600; second += 10) machine.tick(second, second === 0);
  expect(machine.listings).toBeLessThanOrEqual(1 + 10);
});

test('a workload that appears is found at the next tick, though it is bound only after that', () => {
  const machine = new Machine();
  for (const second of [0, 10, 20]) machine.tick(second, second === 0);
  Object.assign(machine, { paths: ['/web', '/db'], version: 2, isBound: false });
  expect(machine.tick(30)).toEqual([]);
  machine.isBound = true;
  expect(machine.tick(40)).toEqual(['memory-node-0']);
});

test('a workload that is bound later is found within a minute, and so is one that is not bound any more', () => {
  const machine = new Machine();
  Object.assign(machine, { paths: ['/web', '/db'], isBound: false });
  for (const second of [0, 10, 20]) machine.tick(second, second === 0);
  machine.isBound = true;
  expect([30, 40, 50, 60, 70].flatMap((second) => machine.tick(second))).toContain('memory-node-0');
  machine.isBound = false;
  expect(machine.tick(130)).toEqual([]);
});

test('a machine with one node lists no workload, until a reload finds another node', () => {
  const machine = new Machine();
  const { nodes } = machine;
  Object.assign(machine, { paths: ['/db'], nodes: undefined });
  expect([machine.tick(0, true), machine.tick(120), machine.listings]).toEqual([[], [], 0]);
  machine.nodes = nodes;
  expect([machine.tick(130), machine.tick(140, true)]).toEqual([[], ['memory-node-0']]);
});
