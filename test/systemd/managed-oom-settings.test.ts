import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ManagedUnit } from '../../src/core/systemd/managed-unit.js';
import { openManagedOom } from '../../src/host/linux/managed-oom/managed-oom.js';
import type { ManagedOom } from '../../src/monitor/ports/managed-oom.js';
import { until } from '../e2e/wait.js';
import { memoryController, memoryHierarchy } from '../support/cgroup.js';
import { hasSystemd, systemd, TestUnits } from '../support/systemd.js';
import { TestUser } from './test-user.js';

// What systemd itself and a user's manager report. How it is read is in test/host/linux/managed-oom.
const v2 = memoryController()?.version === 2;

describe.runIf(hasSystemd && v2)('settings for an out-of-memory daemon (needs systemd, cgroup v2)', () => {
  const units = new TestUnits();
  let managed: ManagedOom;
  const known = (path: string): ManagedUnit | undefined => managed.read()?.units.find((unit) => unit.path === path);
  let user: TestUser;

  beforeAll(() => {
    units.writeAll({
      'evictdtest.slice': { Slice: { ManagedOOMMemoryPressure: 'kill', ManagedOOMMemoryPressureLimit: '20%' } },
      'evictd-test-swap.service': { Service: { Slice: 'evictdtest.slice', ExecStart: '/bin/sleep infinity', ManagedOOMSwap: 'kill' } },
      'evictd-test-plain.service': { Service: { Slice: 'evictdtest.slice', ExecStart: '/bin/sleep infinity' } },
    });
    units.start('evictdtest.slice', 'evictd-test-plain.service');
    user = new TestUser(1998);
    managed = openManagedOom(memoryHierarchy());
  });
  afterAll(() => {
    managed.close();
    units.remove();
    spawnSync('systemctl', ['stop', 'systemd-oomd.socket', 'systemd-oomd.service']);
    user.remove();
  });

  test('are read from the system', async () => {
    await until('systemd has answered', () => managed.read() !== undefined);
    expect(known('/evictdtest.slice')).toEqual({
      name: 'evictdtest.slice',
      path: '/evictdtest.slice',
      swap: false,
      pressure: { limit: 0.2 },
      rules: [],
    });
    expect(managed.problems()).toEqual([]);
  });

  test('of a unit count while it is active', async () => {
    const path = '/evictdtest.slice/evictd-test-swap.service';
    expect(known(path)).toBeUndefined();
    units.start('evictd-test-swap.service');
    await until('it is found', () => known(path)?.swap === true);
    units.stop('evictd-test-swap.service');
    await until('it is forgotten', () => known(path) === undefined);
  });

  test('that systemctl set-property changes are found when the reading is old', async () => {
    const path = '/evictdtest.slice/evictd-test-plain.service';
    systemd('systemctl', 'set-property', '--runtime', 'evictd-test-plain.service', 'ManagedOOMMemoryPressure=kill');
    managed.look(process.hrtime.bigint() + 31_000_000_000n);
    await until('it is found', () => known(path) !== undefined);
    expect(known(path)?.pressure).toEqual({});
  });

  test('of a user are read from the user’s own manager', async () => {
    const path = `${user.manager}/app.slice/evictd-test-mine.service`;
    user.run('evictd-test-mine', { ManagedOOMSwap: 'kill' }, 'sleep', '1200');
    managed.look(process.hrtime.bigint());
    await until('it is found', () => known(path)?.swap === true);
    user.as('systemctl', '--user', 'stop', 'evictd-test-mine');
    await until('it is forgotten', () => known(path) === undefined);
  });

  test('are left to systemd-oomd if it runs', async () => {
    // A managed unit wants it, so that its start starts systemd-oomd unless that is masked.
    await until('it is seen', () => managed.read()?.isLeftToOomd === true);
    systemd('systemctl', 'stop', 'systemd-oomd.socket', 'systemd-oomd.service');
    await until('it is seen', () => managed.read()?.isLeftToOomd === false);
  });
});
