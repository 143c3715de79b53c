import { describe, expect, test } from 'vitest';
import { hasSystemd } from '../support/systemd.js';
import { hasSwap } from '../support/swap.js';
import { Evictd, victimOf } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { aWhile } from '../e2e/wait.js';
import { kernelKills, leave, LEAKING, Scene } from './scene.js';

// The machine itself is the node: without evictd the leak ends with the OOM killer of the kernel.

describe.runIf(hasSystemd)(`a unit that leaks (${ON}, ${hasSwap ? 'with' : 'without'} swap; needs systemd)`, () => {
  test.each([
    ['as fast as it can', {}],
    ['at half that speed', { CPUQuota: '50%' }],
  ])('%s is evicted before the kernel kills, and its neighbours live', async (_how, settings) => {
    const scene = new Scene();
    const leak = scene.service('leak', LEAKING, settings);
    const neighbours = await scene.holders({ db: { mib: 80 }, web: { mib: 60, settings: { MemoryLow: '128M' } }, other: { mib: 20 } });
    leave(700); // of 2 GiB; evictd acts at 400
    const evictd = await new Evictd({
      config: {
        evictionHard: { 'memory.available': '20%' },
        workloads: [{ systemd: { slices: [scene.slice] } }],
        rules: [{ match: { name: 'evictd-test-db.service' }, critical: true }],
      },
    }).guarding();
    const before = kernelKills();

    const [leaker] = scene.start(leak);
    const outcome = await evictd.recorded('outcome');
    await evictd.until('systemd has seen the end', () => leaker?.ended() === true);
    await aWhile(); // a second victim would be a defect

    expect(outcome).toMatchObject({ result: 'killed', victim: { name: leak } });
    expect(leaker?.result()).toBe('signal');
    expect(kernelKills()).toBe(before);
    expect(neighbours.filter((unit) => !unit.untouched()).map(({ name }) => name)).toEqual([]);
    expect(
      evictd
        .journal()
        .filter(({ type }) => type === 'decision')
        .map(victimOf),
    ).toEqual([leak]);
  });
});
