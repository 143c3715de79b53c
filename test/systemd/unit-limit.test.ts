import { describe, expect, test } from 'vitest';
import { hasSystemd } from '../support/systemd.js';
import { Evictd } from '../e2e/evictd.js';
import { isV1, ON } from '../e2e/node.js';
import { LEAKING, Scene } from './scene.js';

const HIDDEN = ['unshare', '-m', 'sh', '-c', 'mount --bind /dev/null /dev/kmsg && exec "$@"', 'sh'];
const LIMITED = { MemoryMax: '32M', MemorySwapMax: '0' };

// The machine is the node: a unit that reaches its own limit is not evicted. The cgroup is removed with the unit.
describe.runIf(hasSystemd)(`a unit that reaches its MemoryMax (${ON}; needs systemd)`, () => {
  const guarding = (scene: Scene) => ({
    evictionHard: { 'memory.available': '5%' },
    monitoringInterval: '1s',
    workloads: [{ systemd: { slices: [scene.slice] } }],
  });

  test('is recorded with its limit from the kernel log', async () => {
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

  test('is counted for its slice, never for the node, without the kernel log', async () => {
    const scene = new Scene();
    const leak = scene.service('leak', LEAKING, LIMITED);
    const evictd = await new Evictd({ config: guarding(scene), through: HIDDEN }).guarding();
    const [unit] = scene.start(leak);
    await evictd.until('systemd has seen the end', () => unit?.ended() === true);
    const record = await evictd.recorded('kernel-oom');
    // On v1 the cgroup is unknown; on v2 it is the slice, or the unit if it was read in time.
    expect(record).toMatchObject({ count: 1 });
    expect(['unknown', 'workload']).toContain(record.limit);
    if (!isV1) expect([`/${scene.slice}`, `/${scene.slice}/${leak}`]).toContain(record.cgroup);
    expect(await evictd.metric('evictd_oom_kills_total{limit="node"}')).toBe(0);
    expect(await evictd.stop()).toBe(0);
  });
});
