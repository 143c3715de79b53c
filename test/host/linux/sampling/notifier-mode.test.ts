import { afterEach, expect, test, vi } from 'vitest';
import { MACHINE_PRESSURE, type PressurePlace } from '../../../../src/host/linux/pressure/pressure.js';
import { kernelAvailable, swapAvailable } from '../../../../src/host/linux/memory/swap.js';
import { PressureAndSwap } from '../../../../src/host/linux/pressure/pressure-and-swap.js';
import { bindingFor } from '../../../../src/host/linux/sampling/notifier-mode.js';
import type { NotifierState } from '../../../../src/monitor/ports/ports.js';
import { native } from '../../../../src/native/index.js';
import { listed } from '../../../core/listed.js';
import { threshold } from '../../../core/support.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

let own: PressureAndSwap | undefined;
afterEach(() => own?.close());

/** What a probe says of the trigger of a threshold of pressure. */
function probed(file: string, windowNs = 2_000_000_000n): NotifierState[] {
  const pressure: PressurePlace = { ...MACHINE_PRESSURE, fileOf: () => file };
  const amounts = { 'memory.kernelAvailable': kernelAvailable(false), 'swap.available': swapAvailable(undefined) };
  own = new PressureAndSwap(bindingFor('probe', native), { pressure, amounts, windowNs }, 'probe');
  own.arm([listed('memory.pressure.full>40%', 'hard')], () => undefined);
  return own.states();
}

test('a probe arms no trigger, and reports it as live if the file can be opened', () => {
  const target = 'full 800 ms of 2000 ms in /proc/pressure/memory';
  expect(probed('/proc/pressure/memory')).toMatchObject([{ mechanism: 'psi_trigger', live: true, target }]);
  expect(native.watchCount()).toBe(0);
  own?.close();
  expect(own?.states()).toEqual([]);
});

test('a probe reports the window that every process may set, whatever its own capabilities', () => {
  expect(probed('/proc/pressure/memory', 500_000_000n)).toMatchObject([{ target: 'full 200 ms of 2000 ms in /proc/pressure/memory' }]);
});

test.each<[rule: string, file: () => string, reason: RegExp]>([
  ['does not exist', () => '/proc/pressure/none', /^ENOENT/],
  ['may not be written', scratch, /^EISDIR/],
  ['refuses to be read', () => '/proc/self/mem', /^EIO/],
])('a probe fails if the file %s', (_rule, file, reason) => {
  expect(probed(file())).toMatchObject([{ live: false, reason: expect.stringMatching(reason) as string }]);
});

test('a probe does not measure how fast memory fills', () => {
  const measureFill = vi.fn(() => 3e9);
  const amounts = { 'memory.kernelAvailable': kernelAvailable(false), 'swap.available': swapAvailable(undefined) };
  const binding = bindingFor('probe', { ...native, measureFill });
  own = new PressureAndSwap(binding, { pressure: MACHINE_PRESSURE, amounts, windowNs: 1n }, 'probe');
  own.arm([threshold('memory.kernelAvailable', '1Mi')], () => undefined);
  expect(own.states()).toMatchObject([{ mechanism: 'sampler', live: true }]);
  expect(measureFill).not.toHaveBeenCalled();
});

function scratch(): string {
  const directory = temporaryDirectory();
  return directory;
}
