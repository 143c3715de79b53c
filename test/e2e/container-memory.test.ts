import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { memoryController, type TestCgroup } from '../support/cgroup.js';
import { limitPidsOf } from '../support/fork-bomb.js';
import { MIXED_MEMINFO, meminfoText, type Meminfo } from '../support/meminfo.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { Evictd, EVICTD, victimOf } from './evictd.js';
import { isV1, MIB, ON, testNode, workload } from './node.js';

// What a container sees: a mount of the cgroup filesystem that shows its own cgroup as the root, and another meminfo.

const MOUNT = memoryController()?.mount ?? '';

/** A command that runs its arguments where the mount shows this cgroup as the root. */
function inside(container: TestCgroup, meminfo?: string): string[] {
  const masked = meminfo === undefined ? '' : ` && mount --bind ${meminfo} /proc/meminfo`;
  return ['unshare', '--mount', 'sh', '-c', `mount --bind ${container.dir} ${MOUNT}${masked} && exec "$@"`, 'sh'];
}

interface Checked {
  readonly code: number;
  readonly memory: { readonly availableBytes: number; readonly capacityBytes: number; readonly source: string; readonly reason?: string };
}

async function run(command: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    execFile(program, args, (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), stdout });
    });
  });
}

async function check(container: TestCgroup, meminfo?: string, ...args: string[]): Promise<Checked> {
  const { code, stdout } = await run([...inside(container, meminfo), process.execPath, EVICTD, 'check', '-o', 'json', ...args]);
  const { signals } = JSON.parse(stdout) as { signals: [Checked['memory']] };
  return { code, memory: signals[0] };
}

const KUBELET = '--compatibility=kubelet';

describe(`evictd in a container with a limit (${ON})`, () => {
  test('uses the limit as the capacity, and counts the memory of the container', async () => {
    const container = testNode(256n << 20n);
    await workload(container.child('app'), { holdsMib: 200 });
    const { code, memory } = await check(container);
    expect([code, memory.capacityBytes]).toEqual([2, 256 * MIB]);
    expect(memory.availableBytes).toBeLessThan(56 * MIB);
    expect(memory.source).toMatch(/ − reclaimable memory of \/$/);
  });

  test('uses the limit of processes, too, but not in the profile kubelet', async () => {
    const container = testNode(256n << 20n);
    const limit = limitPidsOf(container, 60);
    onTestFinished(() => limit.cleanup());
    const pids = '/sys/fs/cgroup/pids';
    const shown = isV1 ? ['unshare', '--mount', 'sh', '-c', `mount --bind ${pids}${container.path} ${pids} && exec "$@"`, 'sh'] : [];
    const read = async (...more: string[]) => {
      const options = ['-o', 'json', '--eviction-hard', 'pid.available<10', ...more];
      const { stdout } = await run([...shown, ...inside(container), process.execPath, EVICTD, 'check', ...options]);
      return (JSON.parse(stdout) as { signals: { signal: string; capacity: number }[] }).signals.find(
        ({ signal }) => signal === 'pid.available',
      );
    };
    expect(await read()).toMatchObject({ capacity: 60, source: 'pids.max − pids.current of /' });
    expect((await read(KUBELET))?.capacity).toBeGreaterThan(60);
  });

  test('without a limit, and in the profile kubelet, uses the memory of the machine', async () => {
    const container = testNode(256n << 20n);
    await workload(container.child('app'), { holdsMib: 200 });
    expect((await check(container, undefined, KUBELET)).memory.capacityBytes).toBeGreaterThan(256 * MIB);
    container.limit(1n << 60n);
    const { memory } = await check(container);
    expect(memory.capacityBytes).toBeGreaterThan(256 * MIB);
    expect(memory.source).toBe('MemAvailable of /proc/meminfo');
  });

  test('acts before the kernel does at the limit', async () => {
    const container = testNode(256n << 20n);
    const app = await workload(container.child('app'), { holdsMib: 20, growsMib: 200 });
    const config = { evictionHard: { 'memory.available': '100Mi' }, workloads: [{ cgroup: '/' }], monitoringInterval: '1h' };
    const evictd = await new Evictd({ config, through: inside(container) }).guarding();
    app.grow();
    expect(await app.ended).toBe('SIGKILL');
    expect(victimOf(await evictd.recorded('decision'))).toBe('app');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
  });
});

describe(`evictd in a container whose limit is set while it runs (${ON})`, () => {
  test('acts before the kernel does at the new limit', async () => {
    const container = testNode(1n << 60n);
    const app = await workload(container.child('app'), { holdsMib: 20, growsMib: 200 });
    const config = { evictionHard: { 'memory.available': '100Mi' }, workloads: [{ cgroup: '/' }], monitoringInterval: '100ms' };
    const evictd = await new Evictd({ config, through: inside(container) }).guarding();
    container.limit(256n << 20n);
    const capacity = () => evictd.metric('evictd_signal_capacity_bytes{eviction_signal="memory.available"}');
    await evictd.until('the limit is the capacity', async () => (await capacity()) === 256 * MIB);
    app.grow();
    expect(await app.ended).toBe('SIGKILL');
    expect(victimOf(await evictd.recorded('decision'))).toBe('app');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
  });
});

describe(`evictd in a container whose limit is that of a cgroup above (${ON})`, () => {
  test.runIf(isV1)('uses that limit as the capacity', async () => {
    const container = testNode(256n << 20n).child('container');
    expect((await check(container)).memory.capacityBytes).toBe(256 * MIB);
  });

  test('records an OOM kill once, with its workload', async () => {
    const container = testNode(64n << 20n).child('container');
    const app = await workload(container.child('app'), { growsMib: Infinity });
    const config = { evictionHard: { 'memory.available': '0%' }, workloads: [{ cgroup: '/' }], monitoringInterval: '1h' };
    const evictd = await new Evictd({ config, through: inside(container) }).guarding();
    app.grow();
    expect(await app.ended).toBe('SIGKILL');
    await evictd.recorded('kernel-oom');
    await evictd.stop();
    const kills = evictd.journal().filter(({ type }) => type === 'kernel-oom');
    expect(kills).toMatchObject([{ workload: { name: 'app', path: '/app' } }]);
  });
});

describe(`evictd with another meminfo (${ON})`, () => {
  const shown = (fields: Meminfo): string => {
    const directory = temporaryDirectory('/dev/shm');
    const file = join(directory, 'meminfo');
    writeFileSync(file, meminfoText(fields));
    return file;
  };
  const unlimited = (): TestCgroup => testNode(1n << 60n);

  test('uses MemAvailable of the container', async () => {
    const { code, memory } = await check(unlimited(), shown(MIXED_MEMINFO));
    expect([code, memory]).toMatchObject([0, { availableBytes: 1650000 * 1024, capacityBytes: 2097152 * 1024 }]);
  });

  test('treats more anonymous memory than there is memory as unknown, and not as a shortage', async () => {
    const { code, memory } = await check(unlimited(), shown(MIXED_MEMINFO), KUBELET);
    expect([code, memory.reason]).toEqual([3, expect.stringContaining('/proc/meminfo mixes two machines')]);
  });

  test('without MemAvailable reports in doctor that the memory of the kernel counts as available', async () => {
    const { MemAvailable: _masked, ...fields } = MIXED_MEMINFO;
    const meminfo = shown({ ...fields, AnonPages: 400000 });
    const command = [...inside(unlimited(), meminfo), process.execPath, EVICTD, 'doctor', '-o', 'json'];
    const { checks } = JSON.parse((await run(command)).stdout) as { checks: { id: string; status: string; summary: string }[] };
    expect(checks.find(({ id }) => id === 'node.memory')).toMatchObject({
      status: 'degraded',
      summary: expect.stringContaining('/proc/meminfo has no MemAvailable') as string,
    });
  });
});
