import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { departuresOf, type Departures } from '../../../src/core/decide/departures.js';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import { openNode, type LinuxNode, type NodeConfig } from '../../../src/host/linux/node.js';
import type { Wake } from '../../../src/monitor/ports/ports.js';
import { native, type Binding, type OnWake } from '../../../src/native/index.js';
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
function open(path: string | undefined = cgroup.path, binding: Binding = native, departures = departuresOf('kubelet')): LinuxNode {
  const node = openNode({ ...config(path), departures }, binding);
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
  test('of a machine has every signal, each within its capacity', async () => {
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

  test('of filesystems: a request during a pending one gets its answer', async () => {
    const node = open();
    for (let round = 0; round < 50; round++) {
      node.requestFilesystems();
      await new Promise<void>((done) => {
        node.requestFilesystems(() => {
          done();
        });
      });
    }
  });

  test('of filesystems: a request after an undelivered answer gets the next one', async () => {
    const node = open();
    const done: string[] = [];
    const answeredNs = () => node.read().observed.get('nodefs.available')?.timeNs;
    node.requestFilesystems(() => done.push('first'));
    // no turn of the event loop
    for (const end = Date.now() + 10_000; answeredNs() === undefined;) if (Date.now() > end) throw new Error('no answer');
    const requestedNs = process.hrtime.bigint();
    const second = new Promise<bigint | undefined>((done) => {
      node.requestFilesystems(() => {
        done(answeredNs());
      });
    });
    expect(done).toEqual([]);
    expect(await second).toBeGreaterThan(requestedNs);
    expect(done).toEqual(['first']);
  });

  test('of a cgroup has the smallest present limit of it and its ancestors as the capacity', () => {
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

  test('of a cgroup counts the memory of its members as used', async () => {
    cgroup.limit(128n * MiB);
    const node = open();
    expect(memoryOf(node)?.available).toBeGreaterThan(120n * MiB);
    await holdMemory(cgroup, 80);
    await eventually('80 MiB to be taken', () => (memoryOf(node)?.available ?? 0n) < 64n * MiB);
  });

  test('of a cgroup counts reclaimable page cache as available', async () => {
    const file = `/var/tmp/evictd-test-${String(process.pid)}-node`;
    cgroup.limit(256n * MiB);
    const { child } = await cgroup.spawn('/bin/sh', ['-c', 'head -c 40M /dev/zero > "$0"; sync "$0"; echo; sleep 600', file]);
    await once(child.stdout ?? child, 'data');
    expect(memoryOf(open())?.available).toBeGreaterThan(240n * MiB);
    rmSync(file);
  });

  test('of the process ids of a cgroup without limits is that of the machine', () => {
    expect(open().read().observed.get('pid.available')?.source).toContain('/proc/loadavg');
  });
});

test('two spellings of a cgroup path are one node', () => {
  expect(open(`/${cgroup.path}/`).identity).toEqual({
    name: cgroup.path,
    cgroup: cgroup.path,
    cgroupId: statSync(cgroup.dir, { bigint: true }).ino,
    cgroupVersion: memoryController()?.version,
  });
});

describe('a node cgroup that does not exist', () => {
  test('is refused at the start, with the path', () => {
    expect(() => open(`${cgroup.path}/nowhere`)).toThrow(
      expect.objectContaining({ code: 'EVICTD_NODE_MISSING', message: expect.stringContaining(`${cgroup.dir}/nowhere`) as string }),
    );
  });

  test('is missing with a reason after its removal, and is read and armed again when it is created again', async () => {
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

describe('the notifiers of memory', () => {
  const essential = v1 ? 'memcg_threshold' : 'sampler';

  test('wake evictd when the threshold is crossed, and the reading that follows meets it', async () => {
    cgroup.limit(128n * MiB);
    const node = open();
    const wakes: (Wake & { available: bigint })[] = [];
    const thresholds = [below('64Mi'), below('10%')];
    // As the monitor does: the armed thresholds follow each reading.
    const onWake = (wake: Wake) => {
      wakes.push({ ...wake, available: memoryOf(node)?.available ?? 0n });
      node.arm(thresholds, onWake);
    };
    node.read();
    expect(node.arm(thresholds, onWake)).toBe(true);
    expect(node.notifiers().filter((state) => state.essential)).toSatisfy((states: { live: boolean }[]) =>
      states.every((state) => state.live),
    );
    await holdMemory(cgroup, 70);
    const circumstances = () => wakes.map(({ source, available }) => `${source} at ${String(available)}`).join(', ');
    // The kernel counts in batches: its own wake may come some pages early, and the next one, of whatever source, when
    // it is met.
    const isWoken = () => wakes.some(({ source }) => source === essential) && wakes.some(({ available }) => available < 64n * MiB);
    await eventually('a wake', isWoken, { circumstances });
    expect(wakes.every(({ atNs }) => atNs <= process.hrtime.bigint())).toBe(true);
  });

  test('are not armed again if nothing has changed', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    expect(node.arm([below('64Mi')], () => undefined)).toBe(false);
  });

  test('follow a changed limit', () => {
    cgroup.limit(128n * MiB);
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    const before = node.notifiers().map((state) => state.target);
    cgroup.limit(256n * MiB); // no pass in between: what is armed follows what is true now
    expect(node.arm([below('64Mi')], () => undefined)).toBe(true);
    expect(node.notifiers().map((state) => state.target)).not.toEqual(before);
  });

  test('are armed for the limits of the last pass, and the node is steady while it has these', () => {
    cgroup.limit(128n * MiB);
    const node = open();
    node.read();
    expect(node.steady?.()).toBeDefined();
    cgroup.limit(256n * MiB);
    expect(node.steady?.()).toBeUndefined();
    expect(node.steady?.()).toBeDefined();
    cgroup.limit(128n * MiB);
    node.read();
    expect(node.steady?.()).toBeDefined();
  });

  test('are not armed without memory thresholds, or for 0, which can never be met', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    node.arm([below('0')], () => undefined);
    expect(node.notifiers()).toEqual([]);
    expect(native.watchCount()).toBe(0);
  });

  if (v1) {
    const watching = (node: LinuxNode) =>
      node.notifiers().filter(({ mechanism, live }) => live && (mechanism === 'memcg_threshold' || mechanism === 'sampler'));
    /** The addon, and how often a threshold was opened or moved. */
    const counting = () => {
      const asked = { times: 0 };
      class MemcgThreshold extends native.MemcgThreshold {
        constructor(...args: ConstructorParameters<Binding['MemcgThreshold']>) {
          asked.times++;
          super(...args);
        }
        override move(usageBytes: bigint): void {
          asked.times++;
          super.move(usageBytes);
        }
      }
      return { asked, binding: { ...native, MemcgThreshold } };
    };

    test('have a sampler beside the threshold, which is alone while the threshold is being registered or moved', async () => {
      cgroup.limit(128n * MiB);
      const made: InstanceType<Binding['MemcgThreshold']>[] = [];
      class MemcgThreshold extends native.MemcgThreshold {
        constructor(...args: ConstructorParameters<Binding['MemcgThreshold']>) {
          super(...args);
          made.push(this);
        }
      }
      const node = open(cgroup.path, { ...native, MemcgThreshold });
      const wakes: Wake[] = [];
      const onWake = (wake: Wake) => wakes.push(wake);
      let armed: bigint | undefined;
      const both = [
        { mechanism: 'memcg_threshold', essential: true },
        { mechanism: 'sampler', essential: false },
      ];
      node.read();
      for (const limit of [128n, 256n]) {
        cgroup.limit(limit * MiB);
        expect(node.arm([below('64Mi')], onWake)).toBe(true);
        expect(watching(node)).toMatchObject(both);
        await eventually('the registration', () => made[0]?.armed !== armed);
        armed = made[0]?.armed;
        node.arm([below('64Mi')], onWake);
        expect(watching(node)).toMatchObject(both);
        wakes.length = 0;
      }
      await holdMemory(cgroup, 200);
      await eventually('the moved one to wake', () => wakes.some(({ source }) => source === 'memcg_threshold'));
    });

    test.each<[cache: string, reads: string, departures: Departures]>([
      ['inactive', '', departuresOf('kubelet')],
      ['active', 'cat "$0" "$0" "$0" > /dev/null && ', departuresOf('evictd')],
    ])('notice growth beside reclaimed page cache, although usage never reaches the registration: %s', async (cache, reads, departures) => {
      const file = `/var/tmp/evictd-test-${String(process.pid)}-cache`;
      cgroup.limit(128n * MiB);
      const cached = `head -c 80M /dev/zero > "$0" && sync "$0" && ${reads}echo cached >> "$0" && exec sleep 600`;
      await cgroup.spawn('/bin/sh', ['-c', cached, file]);
      try {
        await eventually('the page cache', () => existsSync(file) && statSync(file).size > 80 * 2 ** 20);
        expect(Number(new RegExp(`^total_${cache}_file (\\d+)$`, 'm').exec(cgroup.read('memory.stat'))?.[1])).toBeGreaterThan(70 * 2 ** 20);
        const node = open(cgroup.path, native, departures);
        const wakes: Wake[] = [];
        node.read();
        node.arm([below('32Mi')], (wake) => wakes.push(wake));
        const registered = Number(/≥ (\d+)/.exec(node.notifiers()[0]?.target ?? '')?.[1]);
        expect(registered).toBeGreaterThan(128 * 2 ** 20);
        await eventually('the registration', () => wakes.some(({ source }) => source === 'memcg_threshold'));
        wakes.length = 0;
        await holdMemory(cgroup, 110);
        await eventually('a wake', () => wakes.some(({ source, approaching }) => source === 'sampler' && !approaching));
        expect(memoryOf(node)?.available).toBeLessThan(32n * MiB);
      } finally {
        await cgroup.cleanup();
        rmSync(file, { force: true });
      }
    });

    test('wake evictd for a crossing while a threshold is being registered', async () => {
      cgroup.limit(128n * MiB);
      await holdMemory(cgroup, 70);
      const node = open();
      await eventually('70 MiB to be taken', () => (memoryOf(node)?.available ?? 0n) < 64n * MiB);
      const sources = new Set<string>();
      node.arm([below('64Mi')], ({ source }) => sources.add(source));
      await eventually('both', () => sources.has('sampler') && sources.has('memcg_threshold'));
    });

    test('move a registration only at a crossing, a tick or another limit', async () => {
      const file = `/var/tmp/evictd-test-${String(process.pid)}-rest`;
      cgroup.limit(256n * MiB);
      // inactive_file grows by a page every few milliseconds.
      await cgroup.spawn('/bin/sh', ['-c', 'while :; do head -c 4096 /dev/zero >> "$0"; done', file]);
      const { asked, binding } = counting();
      const node = open(cgroup.path, binding);
      let wakes = 0;
      const arm = () => node.arm([below('64Mi')], onWake);
      const onWake = ({ source }: Wake) => {
        if (source !== 'memcg_threshold') return; // the machine's pressure, say
        wakes++;
        arm();
      };
      node.read();
      arm();
      await eventually('the registration', () => wakes > 0);
      await pause(300);
      expect([asked.times, wakes]).toEqual([1, 1]);
      cgroup.limit(250n * MiB);
      arm();
      expect(asked.times).toBe(2);
      await cgroup.cleanup();
      rmSync(file, { force: true });
    });

    // A kernel that takes no registration (PREEMPT_RT) cannot be had here: its answer is made up, everything else is
    // real.
    test('report a registration that is refused later, the sampler watches, and no wake tries it again', async () => {
      let opened = 0;
      class Refused {
        live = true;
        armed = undefined;
        constructor(_cgroup: string, _usageBytes: bigint, onWake: OnWake) {
          opened++;
          setTimeout(() => {
            if (this.live) onWake(native.WAKE.FIRED, process.hrtime.bigint(), native.THRESHOLD.REFUSED);
          }, 5);
        }
        status = () => ({ mechanism: 'memcg_threshold', target: '', live: this.live, errno: 95 });
        move = () => undefined;
        close = () => {
          this.live = false;
        };
      }
      cgroup.limit(128n * MiB);
      const node = open(cgroup.path, { ...native, MemcgThreshold: Refused });
      const wakes: Wake[] = [];
      node.read();
      node.arm([below('64Mi')], (wake) => wakes.push(wake));
      await eventually('the refusal', () => node.notifiers()[0]?.live === false);
      expect(node.notifiers().slice(0, 2)).toMatchObject([
        { mechanism: 'memcg_threshold', essential: false, reason: expect.stringContaining('ENOTSUP') as string },
        { mechanism: 'sampler', live: true, essential: true },
      ]);
      // The pressure of a v1 node is the machine's, which others may cause.
      expect([wakes.filter(({ source }) => source !== 'psi_trigger'), opened]).toEqual([[], 1]);
      node.arm([below('64Mi')], (wake) => wakes.push(wake));
      expect(opened).toBe(2);
    });

    test('report the old limit and the reason while a registration cannot be moved', async () => {
      let answer: OnWake = () => undefined;
      class Standing {
        live = true;
        armed: bigint | undefined;
        asked: bigint;
        constructor(_cgroup: string, usageBytes: bigint, onWake: OnWake) {
          this.asked = usageBytes;
          answer = (wake, atNs, detail) => {
            if (detail === native.THRESHOLD.MOVED) this.armed = this.asked;
            onWake(wake, atNs, detail);
          };
        }
        status = () => ({ mechanism: 'memcg_threshold', target: '', live: this.live, errno: 28 });
        move = (usageBytes: bigint) => {
          this.asked = usageBytes;
        };
        close = () => {
          this.live = false;
        };
      }
      const say = (detail: number): void => {
        answer(native.WAKE.FIRED, process.hrtime.bigint(), detail);
      };
      const node = open(cgroup.path, { ...native, MemcgThreshold: Standing });
      const arm = (limit: bigint) => {
        cgroup.limit(limit * MiB);
        node.arm([below('64Mi')], () => undefined);
      };
      arm(128n);
      say(native.THRESHOLD.MOVED);
      const [stands] = node.notifiers();
      await pause(150); // a registration that has just come moves for a new limit all the same
      arm(256n);
      say(native.THRESHOLD.REFUSED);
      expect(node.notifiers().slice(0, 2)).toMatchObject([
        { mechanism: 'memcg_threshold', live: true, target: stands?.target, reason: expect.stringContaining('ENOSPC') as string },
        { mechanism: 'sampler', live: true },
      ]);
      arm(256n);
      say(native.THRESHOLD.MOVED);
      expect(node.notifiers()[0]).toMatchObject({ live: true, reason: undefined });
      expect(node.notifiers()[0]?.target).not.toBe(stands?.target);
    });
  }

  // A kernel without memory thresholds, or a seccomp filter that forbids them, cannot be had here: the refusal is made
  // up, everything else is real.
  if (v1)
    test('report both the sampler and the refusal where the kernel refuses thresholds', async () => {
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

  test('include pressure, or the reason why not', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi')], () => undefined);
    const pressure = node.notifiers().find((state) => state.mechanism === 'psi_trigger');
    const measured = existsSync('/proc/pressure/memory');
    // Every user may set a window of 2 s.
    expect(pressure).toMatchObject({ essential: false, live: measured, reason: measured ? undefined : (expect.any(String) as string) });
  });

  test('write nothing in mode sample, and only the sampler watches', async () => {
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
    test('report in mode probe what could be armed, and register nothing', () => {
      const node = openNode(config(cgroup.path), native, 'probe');
      opened.push(node);
      node.arm([below('64Mi')], () => undefined);
      expect(node.notifiers()[0]).toMatchObject({ mechanism: 'memcg_threshold', live: true, essential: true });
      expect(node.notifiers().filter(({ live }) => live)).toContainEqual(expect.objectContaining({ mechanism: 'psi_trigger' }));
      expect(native.watchCount()).toBe(1); // the sampler
    });
  }

  test('end with close()', () => {
    const node = open();
    node.read();
    node.arm([below('64Mi'), below('10%')], () => undefined);
    node.close();
    node.close();
    expect(native.watchCount()).toBe(0);
  });
});

describe('OOM kills of the node', () => {
  test('include those in cgroups below the node', async () => {
    const victim = cgroup.child('victim');
    cgroup.limit(24n * MiB);
    if (v1) cgroup.write('memory.swappiness', '0');
    const node = open();
    const before = node.oomKills() ?? 0;
    await holdMemory(victim, 100);
    await eventually('the kernel’s OOM killer', () => (node.oomKills() ?? 0) > before);
  });

  test('wake evictd, with the counts', async () => {
    cgroup.limit(24n * MiB);
    if (v1) cgroup.write('memory.swappiness', '0');
    const node = open();
    const wakes: Wake[] = [];
    node.read();
    node.arm([below('1Mi')], (wake) => wakes.push(wake));
    await holdMemory(cgroup, 100);
    const source = v1 ? 'memcg_oom' : 'memcg_events';
    await eventually('a wake', () => wakes.some((wake) => wake.source === source && wake.counters?.includes('oom_kill')));
    expect(wakes.every((wake) => wake.source === source || wake.counters === undefined)).toBe(true);
  });

  test('are 0 at first', () => {
    expect(open().oomKills()).toBe(0);
  });
});
