import { expect, test } from 'vitest';
import { OOMD_DEFAULTS, type ManagedSettings } from '../../../src/core/systemd/oomd-settings.js';
import { UnitPolicies } from '../../../src/features/policy/unit-policies.js';
import type { ManagedOom } from '../../../src/monitor/ports/managed-oom.js';
import type { WakeSource } from '../../../src/monitor/ports/ports.js';

const settings = (...paths: readonly string[]): ManagedSettings => ({
  units: paths.map((path) => ({ name: path.slice(1), path, swap: true, rules: [] })),
  settings: OOMD_DEFAULTS,
  rules: [],
  isLeftToOomd: false,
});

class Units {
  settings: ManagedSettings | undefined;
  managedOom: ManagedOom | undefined = { look: () => undefined, read: () => this.settings, problems: () => [], close: () => undefined };
  readonly changes: (readonly string[] | undefined)[] = [];
  readonly policies = new UnitPolicies(
    () => this.managedOom,
    () => [],
    ([first]) => this.changes.push(first?.managed?.within),
  );
  /** Also what comes after the pass. */
  async wake(source: WakeSource): Promise<void> {
    this.policies.stepped({ wake: { source, atNs: 0n } });
    await Promise.resolve();
  }
}

test('unit policies are read when systemd has answered, and again when a unit has changed', async () => {
  const units = new Units();
  await units.wake('start');
  expect(units.changes).toEqual([]);
  units.settings = settings('/a');
  await units.wake('tick');
  units.settings = settings('/a'); // read anew, and the same
  await units.wake('tick');
  units.settings = settings('/a', '/b');
  await units.wake('tick');
  expect(units.changes).toEqual([['/a'], ['/a', '/b']]);
});

test('without managed units there are no unit policies', async () => {
  const units = new Units();
  units.settings = settings();
  await units.wake('tick');
  expect(units.changes).toEqual([]);
  units.settings = settings('/a');
  await units.wake('tick');
  units.settings = settings();
  await units.wake('tick');
  expect(units.changes).toEqual([['/a'], undefined]);
});

test('without managedOOM there are no unit policies', async () => {
  const units = new Units();
  units.settings = settings('/a');
  await units.wake('tick');
  units.managedOom = undefined;
  await units.wake('reload');
  expect(units.changes).toEqual([['/a'], undefined]);
});

test('unit policies change at ticks only, and not within a pass', async () => {
  const units = new Units();
  units.settings = settings('/a');
  await units.wake('sampler');
  expect(units.changes).toEqual([]);
  units.policies.stepped({ wake: { source: 'tick', atNs: 0n } });
  expect(units.changes).toEqual([]);
  await Promise.resolve();
  expect(units.changes).toEqual([['/a']]);
});

test('unit policies change at ticks without a pass, too', async () => {
  const units = new Units();
  units.settings = settings('/a');
  expect(units.policies.skipped(0n)).toBe(true);
  await Promise.resolve();
  expect(units.changes).toEqual([['/a']]);
});
