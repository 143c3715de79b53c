import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Observation } from '../../../../src/core/signal/observation.js';
import type { Signal } from '../../../../src/core/signal/signal.js';
import type { Missing } from '../../../../src/host/linux/sampling/kernel-source.js';
import type { NotifierMode } from '../../../../src/host/linux/sampling/notifier-mode.js';
import { PressureAndSwap, type PressureAndSwapPlan } from '../../../../src/host/linux/pressure/pressure-and-swap.js';
import { MACHINE_PRESSURE, MACHINE_PRESSURE_FOR_V1 } from '../../../../src/host/linux/pressure/pressure.js';
import { level, narrowestOf } from '../../../../src/host/linux/sampling/level.js';
import { kernelAvailable, swapAvailable, type AmountSource } from '../../../../src/host/linux/memory/swap.js';
import type { Wake } from '../../../../src/monitor/ports/ports.js';
import { native, type FileSpec } from '../../../../src/native/index.js';
import { listed } from '../../../core/listed.js';
import { threshold } from '../../../core/support.js';
import { hasCapSysResource } from '../../../native/kernel.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const WINDOW_NS = 500_000_000n;
let own: PressureAndSwap | undefined;
afterEach(() => {
  own?.close();
  own?.close(); // may be called twice
});

function open(mode: NotifierMode = 'sample', plan: Partial<PressureAndSwapPlan> = {}): PressureAndSwap {
  const amounts = { 'memory.kernelAvailable': kernelAvailable(false), 'swap.available': swapAvailable(undefined) };
  own = new PressureAndSwap(native, { pressure: MACHINE_PRESSURE, amounts, windowNs: WINDOW_NS, ...plan }, mode);
  return own;
}

const ignoreWake = (): void => undefined;
const read = (signals: PressureAndSwap, timeNs: bigint): Map<Signal, Observation | Missing> => new Map(signals.read(timeNs));

describe('the readings of pressure and swap', () => {
  test('are only those that a threshold uses, also in joined operands', () => {
    const signals = open();
    expect(signals.read(0n)).toEqual([]);
    signals.arm(
      [threshold('memory.available', '1Gi'), listed('memory.available<1% & io.pressure.some.avg60>1% & memory.kernelAvailable<1%', 'hard')],
      ignoreWake,
    );
    expect([...read(signals, 1n).keys()].sort()).toEqual(['io.pressure.some.avg60', 'memory.kernelAvailable']);
    signals.arm([], ignoreWake);
    expect(signals.read(2n)).toEqual([]);
    expect(signals.lookAtNs).toBeUndefined();
  });

  test('include the totals of all lines for a metrics client, whatever thresholds exist, without unreadable ones', () => {
    const directory = temporaryDirectory();
    const file = (resource: string): string => join(directory, resource);
    const line = (kind: string, total: number): string => `${kind} avg10=1.50 avg60=0.20 avg300=0.00 total=${String(total)}\n`;
    writeFileSync(file('memory'), line('some', 2_500_000) + line('full', 1_000_000));
    writeFileSync(file('cpu'), line('some', 7));
    const signals = open('sample', { pressure: { fileOf: file, remark: '' } });
    const averages = { avg10: 0.015, avg60: 0.002, avg300: 0 };
    expect(signals.stalls()).toEqual([
      { resource: 'memory', kind: 'some', seconds: 2.5, averages },
      { resource: 'memory', kind: 'full', seconds: 1, averages },
      { resource: 'cpu', kind: 'some', seconds: 0.000_007, averages },
    ]);
    writeFileSync(file('io'), line('some', 1) + line('full', 0));
    expect(signals.stalls().filter(({ resource }) => resource === 'io')).toHaveLength(2);
    expect(signals.read(0n)).toEqual([]); // no pass reads them
  });

  test('have no share before a window has passed: it is pending, and not zero', () => {
    const signals = open();
    signals.arm([listed('cpu.pressure.some>50%', 'hard')], ignoreWake);
    const begin = process.hrtime.bigint();
    expect(read(signals, begin).get('cpu.pressure.some')).toEqual({
      missing: '/proc/pressure/cpu has not been read for 0.5 s yet',
      pending: true,
    });
    expect(signals.lookAtNs).toBeLessThan(begin); // a reading is no look
    signals.decided(new Map(), begin);
    expect(signals.lookAtNs).toBe(begin + WINDOW_NS / 4n);
    // The time of the reading is the caller's: nothing has to be waited for.
    expect(read(signals, begin + WINDOW_NS).get('cpu.pressure.some')).toMatchObject({
      capacity: 1_000_000_000n,
      source: 'some total of /proc/pressure/cpu, last 0.5 s',
    });
  });

  test.each<[rule: string, available: bigint | undefined, looks: boolean]>([
    ['memory is above the limit beside it', 100n, false],
    ['memory is below the limit beside it', 99n, true],
    ['memory cannot be read', undefined, true],
  ])('between ticks are made only where the other operands allow an eviction: %s', (_rule, available, looks) => {
    const signals = open();
    signals.arm([listed('memory.pressure.full>30% & memory.available<10%', 'soft')], ignoreWake);
    const observation = (of: bigint): Observation => ({ available: of, capacity: 1000n, timeNs: 1n, source: 'test' });
    const observed = available === undefined ? [] : [['memory.available', observation(available)] as const];
    signals.decided(new Map(observed), 5n);
    expect(signals.lookAtNs).toBe(looks ? 5n + WINDOW_NS / 4n : undefined);
    signals.look(6n);
    expect(signals.lookAtNs).toBe(looks ? 6n + WINDOW_NS / 4n : undefined);
  });

  test('are kept over a reload that keeps the signal', () => {
    const signals = open();
    const cpu = listed('cpu.pressure.some>50%', 'hard');
    signals.arm([cpu], ignoreWake);
    const begin = process.hrtime.bigint();
    signals.read(begin);
    signals.arm([cpu, listed('io.pressure.some>50%', 'hard')], ignoreWake);
    expect(read(signals, begin + WINDOW_NS).get('cpu.pressure.some')).not.toHaveProperty('missing');
    expect(read(signals, begin + WINDOW_NS).get('io.pressure.some')).toHaveProperty('pending');
  });

  test('use avg10 in a single reading, and say so', () => {
    const signals = open('probe');
    signals.arm([listed('memory.pressure.full>99%', 'hard')], ignoreWake);
    expect(read(signals, 1n).get('memory.pressure.full')).toMatchObject({
      standIn: 'avg10',
      source: 'full avg10 of /proc/pressure/memory',
    });
    expect(signals.lookAtNs).toBeUndefined();
  });

  test('name the machine as the source where the node is a v1 cgroup', () => {
    const signals = open('sample', { pressure: MACHINE_PRESSURE_FOR_V1 });
    signals.arm([listed('memory.pressure.some.avg300>99%', 'hard')], ignoreWake);
    expect(read(signals, 1n).get('memory.pressure.some.avg300')).toMatchObject({
      source: "some avg300 of /proc/pressure/memory (the machine's: a v1 cgroup has none of its own)",
    });
  });

  test('are missing with the reason on a kernel without pressure', () => {
    const signals = open('arm', { pressure: { fileOf: (resource) => `/proc/pressure-that-is-not/${resource}`, remark: '' } });
    signals.arm([listed('memory.pressure.some>99%', 'hard')], ignoreWake);
    expect(read(signals, 1n).get('memory.pressure.some')).toEqual({
      missing: expect.stringMatching(/^\/proc\/pressure-that-is-not\/memory: this kernel does not measure pressure \(ENOENT/) as string,
    });
    expect(signals.states()).toMatchObject([{ mechanism: 'psi_trigger', signal: 'memory.pressure.some', live: false }]);
  });
});

describe('the notifiers of pressure and swap', () => {
  test.each<[rule: string, windowNs: bigint, thresholds: string[], everyNs: bigint | undefined]>([
    ['an average, as often as the kernel moves it', WINDOW_NS, ['memory.pressure.full.avg10>99%'], 2_000_000_000n],
    ['an average beside a share', WINDOW_NS, ['memory.pressure.full>99%', 'memory.pressure.full.avg300>99%'], WINDOW_NS / 4n],
    ['a share of a long window', 10_000_000_000n, ['memory.pressure.full>99%'], 2_500_000_000n],
    ['an average beside that', 10_000_000_000n, ['memory.pressure.full>99%', 'memory.pressure.full.avg300>99%'], 2_000_000_000n],
    ['amounts have their sampler', WINDOW_NS, ['memory.kernelAvailable<1%'], undefined],
  ])('are replaced in a dry run by readings between two ticks: %s', (_rule, windowNs, thresholds, everyNs) => {
    const signals = open('sample', { windowNs });
    signals.arm(
      thresholds.map((when) => listed(when, 'hard')),
      ignoreWake,
    );
    const now = process.hrtime.bigint();
    signals.look(now);
    expect(signals.lookAtNs).toBe(everyNs && now + everyNs);
  });

  test('are a trigger for each operand of pressure, with its share of the window, in a window that this machine allows', () => {
    const signals = open('arm', { windowNs: 2_000_000_000n });
    const entries = [listed('memory.pressure.full>40% & memory.available<1%', 'hard'), listed('io.pressure.some.avg60>12.5%', 'soft', 1)];
    expect(signals.arm(entries, ignoreWake)).toBe(true);
    expect(signals.states().map(({ signal, live, target }) => [signal, live, target])).toEqual([
      ['memory.pressure.full', true, 'full 800 ms of 2000 ms in /proc/pressure/memory'],
      ['io.pressure.some.avg60', true, 'some 250 ms of 2000 ms in /proc/pressure/io'],
    ]);
    expect(signals.arm(entries, ignoreWake)).toBe(false);
    signals.arm(entries.slice(1), ignoreWake);
    expect(signals.states()).toHaveLength(1);
    signals.close();
    expect(native.watchCount()).toBe(0);
  });

  test.runIf(!hasCapSysResource)(
    'have a window of 2 s instead of 500 ms without CAP_SYS_RESOURCE, with the share of 500 ms, so that they wake early',
    () => {
      const signals = open('arm', { windowNs: 500_000_000n });
      signals.arm([listed('memory.pressure.full>40%', 'hard')], ignoreWake);
      expect(signals.states()).toMatchObject([{ live: true, target: 'full 200 ms of 2000 ms in /proc/pressure/memory' }]);
    },
  );

  test.runIf(hasCapSysResource)('have a window of 500 ms with CAP_SYS_RESOURCE', () => {
    const signals = open('arm', { windowNs: 500_000_000n });
    signals.arm([listed('memory.pressure.full>40%', 'hard')], ignoreWake);
    expect(signals.states()).toMatchObject([{ live: true, target: 'full 200 ms of 500 ms in /proc/pressure/memory' }]);
  });

  test('have a limit of a microsecond for any pressure, because the kernel accepts no less', () => {
    const signals = open('arm', { windowNs: 2_000_000_000n });
    signals.arm([listed('memory.pressure.full>0%', 'hard')], ignoreWake);
    expect(signals.states()).toMatchObject([{ live: true, target: 'full 0.001 ms of 2000 ms in /proc/pressure/memory' }]);
  });

  test('are no trigger in a dry run, which writes to no pressure file', () => {
    const signals = open('sample');
    signals.arm([listed('memory.pressure.full>40%', 'hard')], ignoreWake);
    expect(signals.states()).toEqual([]);
  });

  test('are a sampler for the kernel’s estimate', () => {
    const signals = open();
    signals.arm([threshold('memory.kernelAvailable', '1Mi')], ignoreWake);
    expect(signals.states()).toMatchObject([{ mechanism: 'sampler', signal: 'memory.kernelAvailable', live: true }]);
  });

  test.each([
    ['the machine', 0, 3.6e9, 400_000_000n],
    ['the cgroup', 1, 700e6, 300_000_000n],
  ])('are a sampler for each level of swap: %s is short', async (_whose, index, used, available) => {
    const directory = mkdtempSync(join(tmpdir(), 'evictd-test-levels-'));
    try {
      const files = ['machine', 'cgroup'].map((name): FileSpec => ({ path: join(directory, name), format: 'number' }));
      const use = (file: FileSpec | undefined, used: number): void => {
        writeFileSync(file?.path ?? '', `${String(used).padStart(10, '0')}\n`, { flag: existsSync(file?.path ?? '') ? 'r+' : 'w' });
      };
      for (const file of files) use(file, 0);
      const swap: AmountSource = {
        files,
        read: ([machine = NaN, cgroup = NaN]) => {
          const levelOf = (index: number, capacity: number, used: number) =>
            level(capacity, used, { source: `level ${String(index)}`, used: { files: files.slice(index, index + 1), weights: [1] } });
          return narrowestOf(levelOf(0, 4e9, machine), [levelOf(1, 1e9, cgroup)]);
        },
      };
      const signals = open('arm', { amounts: { 'memory.kernelAvailable': kernelAvailable(false), 'swap.available': swap } });
      const wakes: Wake[] = [];
      signals.arm([threshold('swap.available', '500M')], (wake) => wakes.push(wake));
      expect(signals.states().map(({ signal, live, target }) => [signal, live, target])).toEqual([
        ['swap.available', true, 'level 0 < 500000000'],
        ['swap.available', true, 'level 1 < 500000000'],
      ]);
      await eventually('their periods', () => signals.states().every(({ periodMs }) => (periodMs ?? 0) > 0));
      expect(wakes.filter(({ approaching }) => !approaching)).toEqual([]);
      use(files[index], used);
      await eventually('the wake', () => wakes.some(({ approaching }) => !approaching));
      expect(read(signals, process.hrtime.bigint()).get('swap.available')).toMatchObject({ available });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('report a crossing in either direction until a decision, and a reading to warm up does not end it', () => {
    const signals = open();
    signals.arm([listed('memory.pressure.full>99%', 'hard')], ignoreWake);
    const begin = process.hrtime.bigint();
    const pass = (timeNs: bigint): void => {
      const observed = [...read(signals, timeNs)].flatMap(([signal, reading]) =>
        'missing' in reading ? [] : [[signal, reading] as const],
      );
      signals.decided(new Map(observed), timeNs);
    };
    pass(begin);
    read(signals, begin + WINDOW_NS); // to warm up: from unknown to not met
    expect(signals.look(begin + WINDOW_NS + 1n)).toBe(true);
    expect(signals.look(begin + WINDOW_NS + 2n)).toBe(true); // the wake before was held up
    pass(begin + WINDOW_NS + 3n);
    expect(signals.look(begin + 2n * WINDOW_NS)).toBe(false);
  });
});
