import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Evictd, victimOf } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { until } from '../e2e/wait.js';
import { numbersIn } from '../../src/core/oom/memory-node.js';
import { hasSystemd } from '../support/systemd.js';
import { holding, kernelKills, Scene } from './scene.js';

const nodes = numbersIn(readFileSync('/sys/devices/system/node/has_memory', 'latin1'));

describe.runIf(hasSystemd && nodes.length > 1)(`a slice that is bound to one memory node (${ON}, needs systemd and two nodes)`, () => {
  test('when that node is full its largest unit is evicted, before the kernel ends a process, while the machine has memory', async () => {
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
        evictionHard: { 'memory.available': '20Mi' },
        policies: [
          {
            name: 'bound-nodes',
            scope: { cgroup: `/${scene.slice}` },
            when: 'memory.boundNodes.available < 150Mi',
            then: [{ kill: { by: ['size'], recursive: true } }],
          },
        ],
      },
    }).guarding();
    const large = scene.service('large', holding(Math.round(available() - 60)));
    scene.start(large);
    const decision = await evictd.recorded('decision');
    expect(victimOf(decision)).toBe(large);
    expect(decision).toMatchObject({ policy: { name: 'bound-nodes' } });
    await until('it has ended', async () => (await evictd.recorded('outcome')).result === 'killed');
    expect(kernelKills()).toBe(kills);
    expect(small?.untouched()).toBe(true);
  });
});
