import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { BusAddress } from '../../src/host/linux/systemd/bus-connection.js';
import { SYSTEMD_ADDRESSES } from '../../src/host/linux/systemd/bus-link.js';
import { openUnitManager } from '../../src/host/linux/systemd/unit-manager.js';
import type { UnitManager } from '../../src/monitor/ports/ports.js';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';

const [own, bus] = SYSTEMD_ADDRESSES as [BusAddress, BusAddress];

describe.skipIf(!hasSystemd)('systemd as evictd sees it (needs systemd)', () => {
  const units = new TestUnits();
  const open: UnitManager[] = [];
  const manager = (...addresses: BusAddress[]): UnitManager => {
    const opened = openUnitManager(addresses);
    open.push(opened);
    return opened;
  };

  afterEach(() => {
    for (const opened of open.splice(0)) opened.close();
    units.remove();
  });

  const sleeper = (settings: Readonly<Record<string, string>> = {}, unit: Readonly<Record<string, string>> = {}) => ({
    Unit: unit,
    Service: { ExecStart: '/bin/sleep infinity', ...settings },
  });

  /** Starts a unit that needs no daemon-reload. */
  const transient = (name: string, setting: string): void => {
    systemd('systemd-run', '--quiet', `--unit=${name}`, `--property=${setting}`, 'sleep', 'infinity');
    onTestFinished(() => {
      spawnSync('systemctl', ['stop', name]); // it may have stopped with its dependency
    });
  };

  test.each([
    ['its own socket', own],
    ['the bus', bus],
  ])('has a unit and its dependants, read over %s', async (_way, address) => {
    const name = 'evictd-test-a.service';
    const bound = 'evictd-test-bound.service';
    const part = 'evictd-test-part.service';
    const own = { MemoryLow: '5M', MemoryMin: '3M', MemoryMax: '50M', TimeoutStopSec: '7s', Restart: 'always' };
    units.writeAll({
      [name]: sleeper(own),
      'evictd-test-a.socket': { Socket: { ListenStream: '/run/evictd-test-a.sock' } },
      [bound]: sleeper({}, { BindsTo: name, After: name }),
      [part]: sleeper({}, { PartOf: name }),
    });
    units.start('evictd-test-a.socket', name, bound, part);
    const opened = manager(address);
    opened.follow([name]);
    await eventually(
      'the dependants are known',
      () => opened.unit(bound) !== undefined && opened.unit('evictd-test-a.socket') !== undefined,
    );
    expect(opened.connect()).toBe(true);
    expect(opened.unit(name)).toEqual({
      name,
      activeState: 'active',
      sinceNs: expect.any(BigInt) as bigint,
      controlGroup: `/system.slice/${name}`,
      memoryMinBytes: 3n << 20n,
      memoryLowBytes: 5n << 20n,
      managedOomPreference: 'none',
      timeoutStopNs: 7_000_000_000n,
      restart: 'always',
      stopsWith: [bound, part],
      endsWith: [bound],
      needs: expect.arrayContaining(['sysinit.target']) as string[],
      stopWhenUnneeded: false,
      neededBy: [],
      triggeredBy: ['evictd-test-a.socket'],
      conflicts: [],
      acceptsEach: false,
      transient: false,
      emergencyAction: undefined,
      readAtNs: expect.any(BigInt) as bigint,
      stale: false,
      unsure: false,
    });
    expect(opened.unit('evictd-test-a.socket')?.activeState).toBe('active');
  });

  test.each([
    ['its own socket', own],
    ['the bus', bus],
  ])('has a changed unit read again over %s', async (_way, address) => {
    const name = units.write('evictd-test-a.service', sleeper());
    units.start(name);
    const opened = manager(address);
    opened.follow([name]);
    await eventually('the unit is known', () => opened.unit(name) !== undefined);
    systemd('systemctl', 'stop', name);
    await eventually('the unit was read again', () => opened.unit(name)?.activeState === 'inactive' && opened.unit(name)?.stale === false);
  });

  test.each([
    ['its own socket', own],
    ['the bus', bus],
  ])('has a new dependant before a decision, over %s', async (_way, address) => {
    const [name, dependant] = ['evictd-test-a.service', 'evictd-test-needs.service'];
    units.write(name, sleeper());
    units.start(name);
    const opened = manager(address);
    opened.follow([name]);
    await eventually('the unit is known completely', () => opened.unit(name)?.unsure === false);
    transient(dependant, `Requires=${name}`);
    await eventually('the change or the dependant is known', () => {
      const unit = opened.unit(name);
      return unit?.unsure === true || unit?.stopsWith.includes(dependant);
    });
    await eventually('the unit is known completely again', () => !opened.awaited(name) && opened.unit(name)?.stopsWith.includes(dependant));
  });

  test.each(['Requires', 'Requisite', 'BindsTo', 'PartOf', 'StopPropagatedFrom'])(
    'has a new dependant without a decision, which depends on it by %s=',
    async (setting) => {
      const [name, dependant] = ['evictd-test-a.service', 'evictd-test-needs.service'];
      units.write(name, sleeper());
      units.start(name);
      const opened = manager(own);
      opened.follow([name]);
      await eventually('the unit is known completely', () => opened.unit(name)?.unsure === false);
      transient(dependant, `${setting}=${name}`);
      await eventually(
        'the dependant is known',
        () => opened.unit(name)?.stopsWith.includes(dependant) && opened.unit(dependant) !== undefined,
      );
      await eventually('the unit is known completely again', () => opened.unit(name)?.unsure === false);
      systemd('systemctl', 'stop', dependant);
      await eventually('the dependant is known to be gone', () => opened.unit(name)?.stopsWith.length === 0);
    },
  );

  test('is sure of a unit that no new one depends on, without reading it again', async () => {
    const [name, stranger, dependant] = ['evictd-test-a.service', 'evictd-test-b.service', 'evictd-test-needs.service'];
    units.write(name, sleeper());
    units.start(name);
    const opened = manager(own);
    opened.follow([name]);
    await eventually('the unit is known completely', () => opened.unit(name)?.unsure === false && opened.unit(name)?.stale === false);
    const before = opened.unit(name);
    transient(stranger, 'Description=stranger');
    transient(dependant, `Requires=${stranger}`);
    await eventually('the new units are known', () => {
      opened.follow([name, dependant]);
      return opened.unit(dependant)?.unsure === false;
    });
    await eventually('the unit is sure', () => opened.unit(name)?.unsure === false);
    expect(opened.unit(name)).toEqual(before);
  });

  // None of these units is started.
  test.each<[Readonly<Record<string, string>>, expected: string | undefined]>([
    [{}, undefined],
    [{ FailureAction: 'reboot' }, 'FailureAction=reboot'],
    [{ SuccessAction: 'poweroff-force' }, 'SuccessAction=poweroff-force'],
    [{ StartLimitAction: 'reboot' }, undefined],
    [{ OnFailure: 'rescue.target' }, undefined],
    [{ OnFailure: 'rescue.target', OnFailureJobMode: 'isolate' }, 'OnFailure=rescue.target with OnFailureJobMode=isolate'],
  ])('has the emergencyAction of a unit with %j', async (settings, expected) => {
    const name = units.write('evictd-test-a.service', sleeper({}, settings));
    const opened = manager(own);
    opened.follow([name]);
    await eventually('the unit is known', () => opened.unit(name)?.activeState === 'inactive');
    expect(opened.unit(name)?.emergencyAction).toBe(expected);
  });

  test('answers a job request with all units that it concerns', async () => {
    const name = units.write('evictd-test-a.service', sleeper());
    const dependant = units.write('evictd-test-needs.service', sleeper({}, { Requires: name, After: name }));
    units.start(name, dependant);
    const opened = manager(own);
    opened.follow([name]);
    await eventually('the connection is open', () => opened.connect());
    const answer = opened.request([{ type: 'stop', unit: name }]);
    await eventually('systemd has answered', () => answer?.() !== undefined);
    expect(answer?.()).toEqual({ units: [name, dependant], errors: [] });
    await eventually(
      'both are stopped',
      () => property(name, 'ActiveState') === 'inactive' && property(dependant, 'ActiveState') === 'inactive',
    );
  });

  test('refuses with an error that has the reason', async () => {
    const name = units.write('evictd-test-a.service', sleeper({}, { RefuseManualStop: 'yes' }));
    units.start(name);
    const opened = manager(own);
    opened.follow([name]);
    await eventually('the connection is open', () => opened.connect());
    const answer = opened.request([{ type: 'stop', unit: name }]);
    await eventually('systemd has answered', () => answer?.() !== undefined);
    expect(answer?.()).toEqual({ units: [], errors: [expect.stringContaining('refused') as string] });
  });

  test.each<[what: string, address: BusAddress, happens: () => void]>([
    ['systemd re-executes itself', own, () => execFileSync('systemctl', ['daemon-reexec'])],
    ['systemd re-executes itself (over the bus)', bus, () => execFileSync('systemctl', ['daemon-reexec'])],
    ['the bus restarts', bus, () => execFileSync('systemctl', ['restart', 'dbus.service'])],
  ])('is connected again after: %s', async (_what, address, happens) => {
    const name = units.write('evictd-test-a.service', sleeper({ MemoryLow: '5M' }));
    units.start(name);
    const opened = manager(address);
    opened.follow([name]);
    await eventually('the unit is known', () => opened.unit(name)?.memoryLowBytes === 5n << 20n);
    happens();
    units.write(name, sleeper({ MemoryLow: '6M' }));
    await eventually('the connection is back', () => {
      opened.follow([name]);
      return opened.connect() && opened.unit(name)?.memoryLowBytes === 6n << 20n;
    });
    const answer = opened.request([{ type: 'stop', unit: name }]);
    await eventually('systemd has answered', () => answer?.() !== undefined);
    expect(answer?.()).toMatchObject({ units: [name], errors: [] });
  });

  test('without a listener is a problem that is reported', async () => {
    const opened = manager({ path: '/run/evictd-test-absent', daemon: false });
    opened.follow(['evictd-test-a.service']);
    await eventually('the problem is reported', () => opened.problem() !== undefined);
    expect(opened.problem()).toMatchObject({ code: 'EVICTD_SYSTEMD_UNREACHABLE', message: expect.stringContaining('ENOENT') as string });
    expect(opened.connect()).toBe(false);
    expect(opened.request([{ type: 'stop', unit: 'evictd-test-a.service' }])).toBeUndefined();
    expect(opened.unit('evictd-test-a.service')).toBeUndefined();
  });

  // Behaviour of systemd that core/systemd/unit-stop.ts relies on. Whether a unit bound to a restarting service stays
  // stopped depends on timing.
  test.each<[restart: string, survive: string[]]>([
    ['no', ['Requires', 'PartOf']],
    ['always', []],
  ])('has dependants that survive the kill of a service with Restart=%s', async (restart, survive) => {
    const name = 'evictd-test-a.service';
    const kinds = ['Requires', 'PartOf', 'BindsTo', 'StopPropagatedFrom'];
    const others = kinds.map((kind) => `evictd-test-${kind}.service`);
    const dependants = kinds.map((kind) => [`evictd-test-${kind}.service`, sleeper({}, { [kind]: name, After: name })] as const);
    units.writeAll({ [name]: sleeper({ Restart: restart, RestartSec: '100ms' }), ...Object.fromEntries(dependants) });
    units.start(name, ...others);
    const pids = (): string[] => systemd('systemctl', 'show', '--value', '--property=MainPID', ...others).split(/\s+/);
    const before = pids();
    systemd('systemctl', 'kill', '--signal=SIGKILL', name);
    let left: string[] = [];
    const look = (): string => {
      const now = pids();
      left = kinds.filter((_, index) => now[index] === before[index]);
      return left.join();
    };
    await eventually('the other dependants are gone', () => look() === survive.join(), { circumstances: () => left.join() });
    await new Promise((resolve) => setTimeout(resolve, 500)); // … and these stay
    expect(look()).toBe(survive.join());
  });

  test.each<[restart: string, lives: boolean]>([
    ['no', false],
    ['always', true],
  ])('has a unit needed only by a service with Restart=%s, after the kill of that service', async (restart, lives) => {
    const [name, needed] = ['evictd-test-a.service', 'evictd-test-needed.service'];
    units.writeAll({
      [name]: sleeper({ Restart: restart, RestartSec: '100ms' }, { Wants: needed }),
      [needed]: sleeper({}, { StopWhenUnneeded: 'yes' }),
    });
    units.start(name);
    const opened = manager(own);
    opened.follow([name]);
    await eventually('the needed unit is known', () => opened.unit(needed) !== undefined);
    expect(opened.unit(needed)).toMatchObject({ activeState: 'active', stopWhenUnneeded: true, neededBy: [name] });
    const before = [name, needed].map((unit) => property(unit, 'MainPID'));
    systemd('systemctl', 'kill', '--signal=SIGKILL', name);
    await eventually('the killed service has restarted, or the needed unit has stopped', () =>
      lives ? !['0', before[0]].includes(property(name, 'MainPID')) : property(needed, 'ActiveState') === 'inactive',
    );
    expect(property(needed, 'MainPID')).toBe(lives ? before[1] : '0');
  });
});
