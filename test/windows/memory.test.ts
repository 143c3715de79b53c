import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { parseQuantity } from '../../src/core/quantity/quantity.js';
import type { Signal } from '../../src/core/signal/signal.js';
import type { Threshold } from '../../src/core/threshold/threshold.js';
import { openWindowsNode, type WindowsNode } from '../../src/host/windows/windows-node.js';
import type { PerformanceInfo, WindowsBinding } from '../../src/native/windows-binding.js';
import { liesBetween } from './meminfo.js';
import { native } from './native.js';
import { evictd } from './program.js';
import { spawn } from './spawn.js';

// The numbers of the system, as read by the node of evictd and by evictd as a program.

function hard(signal: Signal): Threshold {
  return { signal, value: { kind: 'quantity', quantity: parseQuantity('1Mi') }, gracePeriodNs: 0n, minReclaim: undefined };
}

function open(binding: WindowsBinding = native): WindowsNode {
  const thresholds = [hard('memory.available'), hard('memory.kernelAvailable')];
  const node = openWindowsNode({ filesystems: { nodefs: 'C:\\' }, thresholds }, binding);
  onTestFinished(() => {
    node.close();
  });
  return node;
}

test('memory.available is (limit − total) · page size of one reading, and its capacity limit · page size', () => {
  const readings: PerformanceInfo[] = [];
  const performanceInfo = (): PerformanceInfo => {
    const reading = native.performanceInfo();
    readings.push(reading);
    return reading;
  };
  const { observed } = open({ ...native, performanceInfo }).read();
  expect(readings).toHaveLength(1); // both signals are of one moment
  const [{ commitLimit, commitTotal, physicalAvailable, physicalTotal, pageSize }] = readings as [PerformanceInfo];
  expect(observed.get('memory.available')).toMatchObject({
    available: (commitLimit - commitTotal) * pageSize,
    capacity: commitLimit * pageSize,
  });
  expect(observed.get('memory.kernelAvailable')).toMatchObject({
    available: physicalAvailable * pageSize,
    capacity: physicalTotal * pageSize,
  });
});

test('evictd check lies between two readings of meminfo; the commit limit is exact', () => {
  const { commitLimit, pageSize } = native.performanceInfo();
  const check = (): bigint => {
    const { stdout } = evictd('check', '-o', 'json', '--eviction-hard', 'memory.available<1Mi');
    const { signals } = JSON.parse(stdout) as { readonly signals: readonly Readonly<Record<string, unknown>>[] };
    const memory = signals.find(({ signal }) => signal === 'memory.available');
    expect(memory?.capacityBytes).toBe(Number(commitLimit * pageSize));
    return BigInt(memory?.availableBytes as number);
  };
  const itself = 256n << 20n; // the memory of Node itself
  return liesBetween(({ available, swapFree }) => available + swapFree, check, itself, { ms: 60_000 });
});

const TOUCHED = 256n << 20n;
const ROUNDS = 6;
/** Allocates memory, and touches a part of it at each request: Wine counts touched memory. */
const TOUCHING = `
  const blocks = Array.from({ length: ${String(ROUNDS)} }, () => Buffer.allocUnsafeSlow(${String(TOUCHED)}));
  let touched = 0;
  process.stdin.on('data', () => {
    blocks[touched++].fill(1);
    process.stdout.write('touched');
  });
  process.stdout.write('ready');`;

// Other processes change memory meanwhile: repeated until they do not.
test.each<Signal>(['memory.available', 'memory.kernelAvailable'])(
  'touching 256 MiB reduces %s by as much (by the numbers of Wine)',
  async (signal) => {
    const node = open();
    const read = (): bigint => node.read().observed.get(signal)?.available ?? 0n;
    const child = spawn(process.execPath, ['-e', TOUCHING], { stdio: ['pipe', 'pipe', 'ignore'] });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill();
      await ended;
    });
    const said = (): Promise<unknown> => once(child.stdout, 'data');
    await said();
    const taken: bigint[] = [];
    const isAsMuch = (bytes: bigint): boolean => bytes > (TOUCHED * 3n) / 4n && bytes < (TOUCHED * 5n) / 4n;
    while (taken.length < ROUNDS && !taken.some(isAsMuch)) {
      const before = read();
      child.stdin.write('go');
      await said();
      taken.push(before - read());
      await pause(100);
    }
    expect(taken.some(isAsMuch), `taken were ${taken.join(', ')}`).toBe(true);
  },
);
