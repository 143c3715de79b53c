import { describe, expect, test } from 'vitest';
import { managedUnit, type ManagedProperties } from '../../../src/core/systemd/managed-unit.js';

const INFINITY = 2n ** 64n - 1n;

describe('the ManagedOOM settings of a unit', () => {
  test.each<[rule: string, properties: ManagedProperties, unit: object | undefined]>([
    ['auto asks for no policy', { ManagedOOMSwap: 'auto', ManagedOOMMemoryPressure: 'auto', OOMRules: [] }, undefined],
    ['swap', { ManagedOOMSwap: 'kill' }, { swap: true, rules: [] }],
    [
      'pressure with the defaults: 0 and infinity are not set',
      { ManagedOOMMemoryPressure: 'kill', ManagedOOMMemoryPressureLimit: 0, ManagedOOMMemoryPressureDurationUSec: INFINITY },
      { swap: false, pressure: {}, rules: [] },
    ],
    ['pressure before systemd 257, which has no duration', { ManagedOOMMemoryPressure: 'kill' }, { swap: false, pressure: {}, rules: [] }],
    [
      'a limit of 20 %, as systemd 252 reports it, and 2 s',
      {
        ManagedOOMMemoryPressure: 'kill',
        ManagedOOMMemoryPressureLimit: 858993459,
        ManagedOOMMemoryPressureDurationUSec: 2_000_000n,
      },
      { swap: false, pressure: { limit: 0.2, durationNs: 2_000_000_000n }, rules: [] },
    ],
    [
      'all of the time',
      { ManagedOOMMemoryPressure: 'kill', ManagedOOMMemoryPressureLimit: 4294967295 },
      { swap: false, pressure: { limit: 1 }, rules: [] },
    ],
    ['a limit counts only with kill', { ManagedOOMSwap: 'kill', ManagedOOMMemoryPressureLimit: 858993459 }, { swap: true, rules: [] }],
    ['rules', { ManagedOOMSwap: 'auto', OOMRules: ['desktop', 'swap'] }, { swap: false, rules: ['desktop', 'swap'] }],
  ])('%s', (_rule, properties, unit) => {
    const found = managedUnit('a.slice', { ControlGroup: '/a.slice', ...properties }, undefined);
    expect(found).toEqual(unit && { name: 'a.slice', path: '/a.slice', ...unit });
  });
});

describe('the owner of a cgroup', () => {
  const manager = '/user.slice/user-1000.slice/user@1000.service';
  test.each<[rule: string, path: unknown, uid: number | undefined, counts: boolean]>([
    ['the root slice', '/', undefined, true],
    ['a unit that has none now', '', undefined, false],
    ['the value is not a path', 7, undefined, false],
    ['a relative path', 'a.slice', undefined, false],
    ['a user’s unit', `${manager}/app.slice/a.service`, 1000, true],
    ['a user’s root slice, which is the manager', manager, 1000, true],
    ['a unit of another user', `${manager}/app.slice`, 1001, false],
    ['a name that only begins like the manager', `${manager}x/app.slice`, 1000, false],
    ['a user who speaks for the system', '/system.slice/sshd.service', 1000, false],
    ['a path that leads out', `${manager}/../../../system.slice`, 1000, false],
    ['a path with an empty name', `${manager}//a`, 1000, false],
    ['a path that ends in a slash', `${manager}/`, 1000, false],
  ])('%s', (_rule, path, uid, counts) => {
    expect(managedUnit('a', { ManagedOOMSwap: 'kill', ControlGroup: path }, uid) !== undefined).toBe(counts);
  });
});
