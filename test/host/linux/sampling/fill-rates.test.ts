import { availableParallelism } from 'node:os';
import { expect, test, vi } from 'vitest';

const cores = availableParallelism();
const fresh = async () => {
  vi.resetModules(); // it measures once a process
  const { fillRates } = await import('../../../../src/host/linux/sampling/fill-rates.js');
  return fillRates;
};

test('the fill rate of memory for all cores and for one is measured once', async () => {
  const fillRates = await fresh();
  const measureFill = vi.fn(() => 3e9);
  expect(fillRates({ measureFill }, 'memory')).toEqual({ maxRatePerSecond: 3e9 * cores, restRatePerSecond: 3e9 });
  expect(fillRates({ measureFill }, 'disk')).toMatchObject({ maxRatePerSecond: 3e9 * cores });
  expect(measureFill).toHaveBeenCalledOnce();
});

test('an assumed rate is not kept as that of the machine', async () => {
  const fillRates = await fresh();
  expect(fillRates({ measureFill: () => 1e9 }, 'memory').restRatePerSecond).toBe(1e9);
  expect(fillRates({ measureFill: () => 3e9 }, 'memory').restRatePerSecond).toBe(3e9);
});

test.each([
  ['stood still while it was measured', 1e6, 1e8],
  ['is faster than any', 1e12, 1e10],
])('the fill rate of a machine that %s', async (_what, measured, used) => {
  const fillRates = await fresh();
  expect(fillRates({ measureFill: () => measured }, 'memory').restRatePerSecond).toBe(used);
});
