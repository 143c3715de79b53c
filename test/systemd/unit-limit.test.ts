import { describe, expect, test } from 'vitest';
import { hasSystemd } from '../support/systemd.js';
import { Evictd } from '../e2e/evictd.js';
import { isV1, ON } from '../e2e/node.js';
import { LEAKING, Scene } from './scene.js';

const HIDDEN = ['unshare', '-m', 'sh', '-c', 'mount --bind /dev/null /dev/kmsg && exec "$@"', 'sh'];
const LIMITED = { MemoryMax: '32M', MemorySwapMax: '0' };

// The machine is the node: a unit that reaches a limit of its own says nothing about whether evictd is in time. Its cgroup goes with it.
describe.runIf(hasSystemd)(`a unit that reaches its MemoryMax (${ON}; tried where systemd is)`, () => {
  const guarding = (scene: Scene) => ({
    evictionHard: { 'memory.available': '5%' },
    monitoringInterval: '1s',
    workloads: [{ systemd: { slices: [scene.slice] } }],
  });

  test('is named, with its own limit, where the kernel log tells', async () => {
    const scene = new Scene();
    const leak = scene.service('leak', LEAKING, LIMITED);
    const evictd = await new Evictd({ config: guarding(scene) }).guarding();
    scene.start(leak);
    const path = `/${scene.slice}/${leak}`;
    expect(await evictd.recorded('kernel-oom')).toMatchObject({
      limit: 'workload',
      limitedCgroup: path,
      workload: { name: leak, path },
      process: { name: 'tail' },
    });
    expect(await evictd.metric('evictd_oom_kills_total{limit="node"}')).toBe(0);
    expect(await evictd.stop()).toBe(0);
  });

  test('is counted below its slice, and never as the node, where only the counters tell', async () => {
    const scene = new Scene();
    const leak = scene.service('leak', LEAKING, LIMITED);
    const evictd = await new Evictd({ config: guarding(scene), through: HIDDEN }).guarding();
    const [unit] = scene.start(leak);
    await evictd.until('systemd has seen the end', () => unit?.ended() === true);
    const record = await evictd.recorded('kernel-oom');
    // v1 has forgotten where it was; v2 knows the slice, or the unit where it was looked at soon enough.
    expect(record).toMatchObject({ count: 1 });
    expect(['unknown', 'workload']).toContain(record.limit);
    if (!isV1) expect([`/${scene.slice}`, `/${scene.slice}/${leak}`]).toContain(record.cgroup);
    expect(await evictd.metric('evictd_oom_kills_total{limit="node"}')).toBe(0);
    expect(await evictd.stop()).toBe(0);
  });
});
