import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { describe, expect, test } from 'vitest';
import { Evictd, victimOf } from '../e2e/evictd.js';
import { MIB, ON } from '../e2e/node.js';
import { until } from '../e2e/wait.js';
import { numbersIn } from '../../src/core/oom/memory-node.js';
import { hasSystemd } from '../support/systemd.js';
import { kernelKills, Scene } from './scene.js';

const nodes = numbersIn(readFileSync('/sys/devices/system/node/has_memory', 'latin1'));

/** Of one of two memory nodes, which has half of the machine's memory. */
const between = (metric: string): string => `${metric} > 10Mi & !(${metric} > ${String(Math.round((totalmem() * 0.7) / MIB))}Mi)`;

describe.runIf(hasSystemd && nodes.length > 1)(`a slice that is bound to one memory node (${ON}, needs systemd and two nodes)`, () => {
  test('has its largest unit evicted when that node is full, before the kernel ends a process, while the machine has memory', async () => {
    const scene = new Scene(undefined, { AllowedMemoryNodes: String(nodes.at(-1)) });
    const available = (): number => {
      const meminfo = readFileSync(`/sys/devices/system/node/node${String(nodes.at(-1))}/meminfo`, 'latin1');
      return Number(/MemFree: +(\d+) kB/.exec(meminfo)?.[1]) / 1024;
    };
    const [small] = await scene.holders({ small: { mib: 64 } });
    const kills = kernelKills();
    const evictd = await new Evictd({
      config: {
        workloads: [{ systemd: { slices: [scene.slice] } }],
        evictionHard: { 'memory.available': '150Mi' },
        policies: [
          { name: 'available', scope: { cgroup: `/${scene.slice}` }, when: between('memory.boundNodes.available'), then: ['notify'] },
          { name: 'used', scope: { cgroup: `/${scene.slice}` }, when: between('memory.boundNodes.used'), then: ['notify'] },
        ],
      },
    }).guarding();
    const held = (): unknown[] =>
      evictd.journal().flatMap(({ type, event, policy }) => (type === 'policy' && event === 'act' ? [policy] : []));
    await until('both conditions over its memory node hold', () => new Set(held()).size === 2);
    // A pipe takes minutes for this on an emulated machine.
    const bytes = Math.round(available() - 60) * MIB;
    const large = scene.service('large', `/usr/bin/perl -e 'my @held = ("x" x ${String(bytes)}); sleep'`);
    scene.start(large);
    const decision = await evictd.recorded('decision');
    expect(victimOf(decision)).toBe(large);
    expect(decision).toMatchObject({ policy: { name: `memory-node-${String(nodes.at(-1))}` } });
    await until('it has ended', async () => (await evictd.recorded('outcome')).result === 'killed');
    expect(kernelKills()).toBe(kills);
    expect(small?.untouched()).toBe(true);
  });
});
