import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseQuantity } from '../../../src/core/quantity.js';
import type { Threshold } from '../../../src/core/threshold.js';
import { openNode, type LinuxNode, type NodeConfig } from '../../../src/host/linux/node.js';
import type { Wake } from '../../../src/monitor/ports.js';
import { native, type Binding } from '../../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { holdMemory } from '../../support/hold-memory.js';

const MiB = 1024n * 1024n;
const v1 = memoryController()?.version === 1;
const config = (cgroup: string | undefined): NodeConfig => ({ node: { cgroup }, filesystems: { nodefs: '/' } });

const below = (text: string): Threshold => {
  const value = text.endsWith('%')
    ? ({ kind: 'percentage', fraction: Number.parseFloat(text) / 100, text } as const)
    : ({ kind: 'quantity', quantity: parseQuantity(text) } as const);
  return { signal: 'memory.available', value, gracePeriodNs: 0n, minReclaim: undefined };
};

let cgroup: TestCgroup;
const opened: LinuxNode[] = [];
function open(path: string | undefined = cgroup.path, binding: Binding = native): LinuxNode {
  const node = openNode(config(path), binding);
  opened.push(node);
  return node;
}

beforeEach(() => {
  cgroup = testCgroup();
});
afterEach(async () => {
  for (const node of opened.splice(0)) node.close();
  await cgroup.cleanup();
});

const memoryOf = (node: LinuxNode) => node.read().observed.get('memory.available');

describe('reading', () => {
  test('the machine: every signal, each within its capacity', async () => {
    const node = openNode(config(undefined), native);
    opened.push(node);
    const { observed } = await eventually('the first answer of statfs', () => {
      const observations = node.read();
      return observations.missing.size === 0 && observations;
    });
    const memTotal = BigInt(/MemTotal:\s+(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) * 1024n;
    expect([...observed.keys()]).toEqual(['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'pid.available']);
    expect(observed.get('memory.available')?.capacity).toBe(memTotal);
    for (const { available, capacity } of observed.values()) expect(available > 0n && available <= capacity).toBe(true);
    expect(node.identity).toEqual({ name: 'machine', cgroup: undefined, cgroupVersion: memoryController()?.version });
  });

  test('the filesystems: whoever asks while an answer is under way is told of it, too', async () => {
    const node = open();
    for (let round = 0; round < 50; round++) {
      node.requestFilesystems();
      await new Promise<void>((told) => {
        node.requestFilesystems(told);
      });
    }
  });

  test('a cgroup: its capacity is the smallest limit of it and of those above, as they are now', () => {
    const inner = cgroup.child('inner');
    cgroup.limit(128n * MiB);
    inner.limit(64n * MiB);
    const node = open(inner.path);
    expect(memoryOf(node)?.capacity).toBe(64n * MiB);
    inner.limit(96n * MiB);
    expect(memoryOf(node)?.capacity).toBe(96n * MiB);
    inner.limit(512n * MiB);
    expect(memoryOf(node)?.capacity).toBe(128n * MiB);
    rmdirSync(inner.dir);
  });

  test('what a member takes is no longer available', async () => {
    cgroup.limit(128n * MiB);
    const node = open();
    expect(memoryOf(node)?.available).toBeGreaterThan(120n * MiB);
    await holdMemory(cgroup, 80);
    await eventually('80 MiB to be taken', () => (memoryOf(node)?.available ?? 0n) < 64n * MiB);
  });

  test('the page cache that can be dropped is available', async () => {
    const file = `/var/tmp/evictd-test-${String(process.pid)}-node`;
    cgroup.limit(256n * MiB);
    const { child } = await cgroup.spawn('/bin/sh', ['-c', 'head -c 40M /dev/zero > "$0"; sync "$0"; echo; sleep 600', file]);
    await once(child.stdout ?? child, 'data');
    expect(memoryOf(open())?.available).toBeGreaterThan(240n * MiB);
    rmSync(file);
  });

  test('process ids of a cgroup without limits are the machine’s', () => {
    expect(open().read().observed.get('pid.available')?.source).toContain('/proc/loadavg');
  });
});

test('a cgroup is one node however its path is written', () => {
  expect(open(`/${cgroup.path}/`).identity).toEqual({ name: cgroup.path, cgroup: cgroup.path, cgroupVersion: memoryController()?.version });
});

describe('a node cgroup that is not there', () => {
  test('refused at the start, and said where it was looked for', () => {
    expect(() => open(`${cgroup.path}/nowhere`)).toThrow(
      expect.objectContaining({ code: 'EVICTD_NODE_MISSING', message: expect.stringContaining(`${cgroup.dir}/nowhere`) as string }),
    );
  });

  test('removed later: missing with a reason; made again: read again and armed again', async () => {
    cgroup.limit(64n * MiB);
    const node = open();
    const wakes: Wake[] = [];
    node.read();
    node.arm([below('32Mi')], (wake) => wakes.push(wake));
    rmdirSync(cgroup.dir);
    await eventually('a wake because the node is gone', () => wakes.length > 0);
    expect(node.read().missing.get('memory.available')).toContain(`${cgroup.dir}/memory.`);
    expect(node.arm([below('32Mi')], (wake) => wakes.push(wake))).toBe(false);
    await eventually('the notifiers to say so', () => node.notifiers().some((state) => state.essential && !state.live));

    mkdirSync(cgroup.dir);
    cgroup.limit(64n * MiB);
    expect(memoryOf(node)?.capacity).toBe(64n * MiB);
    expect(node.arm([below('32Mi')], (wake) => wakes.push(wake))).toBe(true);
    wakes.length = 0;
    await holdMemory(cgroup, 40);
    await eventually('a wake from the new one', () =>
      wakes.some((wake) => wake.source === (v1 ? 'memcg_threshold' : 'sampler') && !wake.approaching),
    );
  });
});

describe('arming', () => {
  const essential = v1 ? 'memcg_threshold' : 'sampler';

  test('wakes when the threshold is crossed, and on the reading that follows it is met', async () => {
    cgroup.limit(128n * MiB);
    const node = open();
    const wakes: Wake[] = [];
    node.read();
    expect(node.arm([below('64Mi'), below('10%')], (wake) => wakes.push(wake))).toBe(true);
    expect(node.notifiers().filter((state) => state.essential)).toSatisfy((states: { live: boolean }[]) =>
      states.every((state) => state.live),
    );
    await holdMemory(cgroup, 70);
    const wake = await eventually('a wake', () => wakes.find(({ source, approaching }) => source === essential && !approaching));
    expect(wake.atNs).toBeLessThanOrEqual(process.hrtime.bigint());
    expect(memoryOf(node)?.available).toBeLessThan(64n * MiB);
  });

  test('nothing moved: nothing is armed again', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    expect(node.arm([below('64Mi')], () => undefined)).toBe(false);
  });

  test('a limit that changed moves the threshold', () => {
    cgroup.limit(128n * MiB);
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    const before = node.notifiers().map((state) => state.target);
    cgroup.limit(256n * MiB); // no pass in between: what is armed follows what is true now
    expect(node.arm([below('64Mi')], () => undefined)).toBe(true);
    expect(node.notifiers().map((state) => state.target)).not.toEqual(before);
  });

  test('without memory thresholds nothing is watched; 0 can never be met', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    node.arm([below('0')], () => undefined);
    expect(node.notifiers()).toEqual([]);
    expect(native.watchCount()).toBe(0);
  });

  if (v1)
    test('shortly after a wake the sampler takes over what would have to be registered anew', async () => {
      cgroup.limit(128n * MiB);
      const node = open();
      const wakes: Wake[] = [];
      const onWake = (wake: Wake) => wakes.push(wake);
      node.read();
      node.arm([below('64Mi')], onWake);
      await holdMemory(cgroup, 70);
      await eventually('a wake', () => wakes.length > 0);
      cgroup.limit(256n * MiB);
      node.read();
      expect(node.arm([below('64Mi')], onWake)).toBe(true);
      expect(node.notifiers().filter((state) => state.live && state.mechanism !== 'psi_trigger')).toMatchObject([
        { mechanism: 'memcg_threshold', essential: true },
        { mechanism: 'sampler', essential: false },
      ]);
      wakes.length = 0;
      await holdMemory(cgroup, 130);
      await eventually('the sampler to wake', () => wakes.some((wake) => wake.source === 'sampler' && !wake.approaching));
    });

  // A kernel without memory thresholds, or a seccomp filter that forbids them, cannot be had here: the refusal is made up, everything else is real.
  if (v1)
    test('where the kernel refuses thresholds the sampler watches, and both are said', async () => {
      const refusing = function (directory: string): never {
        throw Object.assign(new Error(`write ${directory}/cgroup.event_control: EPERM`), { code: 'EPERM', syscall: 'write' });
      };
      cgroup.limit(128n * MiB);
      const node = open(cgroup.path, { ...native, MemcgThreshold: refusing as unknown as Binding['MemcgThreshold'] });
      const wakes: Wake[] = [];
      node.read();
      node.arm([below('64Mi')], (wake) => wakes.push(wake));
      expect(node.notifiers().slice(0, 2)).toMatchObject([
        {
          mechanism: 'memcg_threshold',
          live: false,
          essential: false,
          reason: expect.stringContaining('EPERM') as string,
          hint: expect.any(String) as string,
        },
        { mechanism: 'sampler', live: true, essential: true },
      ]);
      await holdMemory(cgroup, 70);
      await eventually('the sampler to wake', () => wakes.some((wake) => wake.source === 'sampler' && !wake.approaching));
    });

  test('pressure is watched besides, or it says why not', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    const pressure = node.notifiers().find((state) => state.mechanism === 'psi_trigger');
    const measured = existsSync('/proc/pressure/memory');
    // A window of 2 s is allowed to everybody.
    expect(pressure).toMatchObject({ essential: false, live: measured, reason: measured ? undefined : (expect.any(String) as string) });
  });

  test('to sample only: nothing that would be written is armed, the sampler watches', async () => {
    cgroup.limit(128n * MiB);
    const node = openNode(config(cgroup.path), native, 'sample');
    opened.push(node);
    const wakes: Wake[] = [];
    node.read();
    node.arm([below('64Mi')], (wake) => wakes.push(wake));
    const mechanisms = node.notifiers().map(({ mechanism, live, essential }) => [mechanism, live, essential]);
    expect(mechanisms).toEqual(
      v1
        ? [['sampler', true, true]]
        : [
            ['sampler', true, true],
            ['memcg_events', true, false],
          ],
    );
    await holdMemory(cgroup, 70);
    await eventually('the sampler to wake', () => wakes.some((wake) => wake.source === 'sampler' && !wake.approaching));
  });

  if (v1) {
    test('to probe: what could be armed is said, nothing is registered', () => {
      const node = openNode(config(cgroup.path), native, 'probe');
      opened.push(node);
      node.arm([below('64Mi')], () => undefined);
      expect(node.notifiers()[0]).toMatchObject({ mechanism: 'memcg_threshold', live: true, essential: true });
      expect(native.watchCount()).toBe(node.notifiers().filter(({ mechanism, live }) => mechanism === 'psi_trigger' && live).length);
    });
  }

  test('closing ends every watch', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi'), below('10%')], () => undefined);
    node.close();
    node.close();
    expect(native.watchCount()).toBe(0);
  });
});

describe('OOM kills', () => {
  test('those below the node are counted', async () => {
    const victim = cgroup.child('victim');
    cgroup.limit(24n * MiB);
    if (v1) cgroup.write('memory.swappiness', '0');
    const node = open();
    const before = node.oomKills() ?? 0;
    await holdMemory(victim, 100);
    await eventually('the kernel’s OOM killer', () => (node.oomKills() ?? 0) > before);
  });

  test('none yet', () => {
    expect(open().oomKills()).toBe(0);
  });
});
