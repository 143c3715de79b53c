import { describe, expect, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { hasSwap } from '../support/swap.js';
import { Evictd } from './evictd.js';
import { guarding, isV1, MIB, ON, testNode, workload } from './node.js';
import { until } from './wait.js';

// With swap the kernel does not kill in a cgroup at its limit: its memory moves to swap and is not in the node's usage.

interface RankingRow {
  readonly name: string;
  readonly workingSetBytes: number;
}

/** Bytes of a cgroup and all below it in swap. */
function swapped(cgroup: TestCgroup): number {
  if (!isV1) return Number(cgroup.read('memory.swap.current'));
  return Number(cgroup.read('memory.memsw.usage_in_bytes')) - Number(cgroup.read('memory.usage_in_bytes'));
}

function oomKills(cgroup: TestCgroup): number {
  return Number(/^oom_kill (\d+)/m.exec(cgroup.read(isV1 ? 'memory.oom_control' : 'memory.events'))?.[1]);
}

/** Holds 150 MiB, of which at most 48 are in memory. */
async function spilled(cgroup: TestCgroup) {
  cgroup.limit(48n << 20n);
  const process = await workload(cgroup, { holdsMib: 150 });
  expect(swapped(cgroup)).toBeGreaterThan(90 * MIB);
  return process;
}

describe.runIf(hasSwap)(`an eviction with swap (${ON}; needs swap)`, () => {
  test('ranks a workload by its memory without swap', async () => {
    const node = testNode();
    const inSwap = node.child('in-swap');
    const cold = await spilled(inSwap);
    const warm = await workload(node.child('warm'), { growsMib: 120 });
    const evictd = await new Evictd({ config: guarding(node) }).guarding();

    warm.grow();
    expect(await warm.ended).toBe('SIGKILL');
    const ranking = (await evictd.recorded('decision')).ranking as RankingRow[];
    expect(ranking.map(({ name }) => name)).toEqual(['warm', 'in-swap']);
    expect(ranking[1]?.workingSetBytes).toBeLessThanOrEqual(48 * MIB);
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    expect(cold.alive).toBe(true);
    expect(swapped(inSwap)).toBeGreaterThan(90 * MIB);
  });

  test('kills a victim that is mostly in swap, and frees its swap', async () => {
    const node = testNode();
    const inSwap = node.child('in-swap');
    const cold = await spilled(inSwap);
    // The threshold is met at 128 MiB: what it takes afterwards is less than the half of what the victim gives back.
    const pressure = await workload(node.child('pressure'), { growsMib: 84 });
    const rules = [{ match: { name: 'pressure' }, critical: true }];
    const evictd = await new Evictd({ config: guarding(node, rules) }).guarding();

    pressure.grow();
    expect(await cold.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'in-swap' } });
    expect(oomKills(inSwap)).toBe(0);
    await until('its swap is free', () => swapped(node) < 10 * MIB);
    expect(pressure.alive).toBe(true);
  });

  test('ends the growing workload at the limit of the node, where the kernel swaps instead of killing', async () => {
    const node = testNode(224n << 20n);
    const db = await workload(node.child('db'), { holdsMib: 40 });
    const leaking = node.child('leaking');
    const leak = await workload(leaking, { growsMib: Infinity });
    const evictd = await new Evictd({ config: { ...guarding(node), evictionHard: { 'memory.available': '32Mi' } } }).guarding();

    leak.grow();
    expect(await leak.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'leaking' } });
    expect(oomKills(leaking)).toBe(0);
    expect(db.alive).toBe(true);
  });
});
