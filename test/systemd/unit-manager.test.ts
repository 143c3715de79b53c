import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { BusAddress } from '../../src/host/linux/systemd/bus-connection.js';
import { SYSTEMD_ADDRESSES } from '../../src/host/linux/systemd/bus-link.js';
import { openUnitManager } from '../../src/host/linux/systemd/unit-manager.js';
import type { UnitManager } from '../../src/monitor/ports.js';
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

  test.each([
    ['its own socket', own],
    ['the bus', bus],
  ])('a unit and what hangs on it is known by way of %s', async (_way, address) => {
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
      'what hangs on it is known',
      () => opened.unit(bound) !== undefined && opened.unit('evictd-test-a.socket') !== undefined,
    );
    expect(opened.connect()).toBe(true);
    expect(opened.unit(name)).toEqual({
      name,
      activeState: 'active',
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
  ])('a unit that changes is read again by itself, by way of %s', async (_way, address) => {
    const name = units.write('evictd-test-a.service', sleeper());
    units.start(name);
    const opened = manager(address);
    opened.follow([name]);
    await eventually('the unit is known', () => opened.unit(name) !== undefined);
    systemd('systemctl', 'stop', name);
    await eventually('it was read again', () => opened.unit(name)?.activeState === 'inactive' && opened.unit(name)?.stale === false);
  });

  test.each([
    ['its own socket', own],
    ['the bus', bus],
  ])('who comes to hang on a unit is known before it is decided over, by way of %s', async (_way, address) => {
    const [name, dependant] = ['evictd-test-a.service', 'evictd-test-needs.service'];
    units.write(name, sleeper());
    units.start(name);
    const opened = manager(address);
    opened.follow([name]);
    await eventually('the unit is known for sure', () => opened.unit(name)?.unsure === false);
    // It has no file, so that systemd reads none anew.
    systemd('systemd-run', '--quiet', `--unit=${dependant}`, `--property=Requires=${name}`, 'sleep', 'infinity');
    onTestFinished(() => {
      spawnSync('systemctl', ['stop', dependant]); // it may be gone with what it needs
    });
    await eventually('that somebody has come is known, or already who', () => {
      const unit = opened.unit(name);
      return unit?.unsure === true || unit?.stopsWith.includes(dependant);
    });
    await eventually('it is known for sure again', () => !opened.awaited(name) && opened.unit(name)?.stopsWith.includes(dependant));
  });

  // Read only: none of them is ever started.
  test.each<[Readonly<Record<string, string>>, expected: string | undefined]>([
    [{}, undefined],
    [{ FailureAction: 'reboot' }, 'FailureAction=reboot'],
    [{ SuccessAction: 'poweroff-force' }, 'SuccessAction=poweroff-force'],
    [{ StartLimitAction: 'reboot' }, undefined],
    [{ OnFailure: 'rescue.target' }, undefined],
    [{ OnFailure: 'rescue.target', OnFailureJobMode: 'isolate' }, 'OnFailure=rescue.target with OnFailureJobMode=isolate'],
  ])('what the end of a unit with %j does to the machine is known', async (settings, expected) => {
    const name = units.write('evictd-test-a.service', sleeper({}, settings));
    const opened = manager(own);
    opened.follow([name]);
    await eventually('the unit is known', () => opened.unit(name)?.activeState === 'inactive');
    expect(opened.unit(name)?.emergencyAction).toBe(expected);
  });

  test('a job is asked for, and everybody that it concerns is named', async () => {
    const name = units.write('evictd-test-a.service', sleeper());
    const dependant = units.write('evictd-test-needs.service', sleeper({}, { Requires: name, After: name }));
    units.start(name, dependant);
    const opened = manager(own);
    opened.follow([name]);
    await eventually('there is a connection', () => opened.connect());
    const answer = opened.request([{ type: 'stop', unit: name }]);
    await eventually('systemd has answered', () => answer?.() !== undefined);
    expect(answer?.()).toEqual({ units: [name, dependant], errors: [] });
    await eventually(
      'both are stopped',
      () => property(name, 'ActiveState') === 'inactive' && property(dependant, 'ActiveState') === 'inactive',
    );
  });

  test('what systemd refuses is an error, with its reason', async () => {
    const name = units.write('evictd-test-a.service', sleeper({}, { RefuseManualStop: 'yes' }));
    units.start(name);
    const opened = manager(own);
    opened.follow([name]);
    await eventually('there is a connection', () => opened.connect());
    const answer = opened.request([{ type: 'stop', unit: name }]);
    await eventually('systemd has answered', () => answer?.() !== undefined);
    expect(answer?.()).toEqual({ units: [], errors: [expect.stringContaining('refused') as string] });
  });

  test.each<[what: string, address: BusAddress, happens: () => void]>([
    ['systemd executes itself anew', own, () => execFileSync('systemctl', ['daemon-reexec'])],
    ['systemd executes itself anew (by the bus)', bus, () => execFileSync('systemctl', ['daemon-reexec'])],
    ['the bus is started anew', bus, () => execFileSync('systemctl', ['restart', 'dbus.service'])],
  ])('the connection is back after %s', async (_what, address, happens) => {
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

  test('where nobody listens it is said, and what was known stays', async () => {
    const opened = manager({ path: '/run/evictd-test-nobody', daemon: false });
    opened.follow(['evictd-test-a.service']);
    await eventually('it is said', () => opened.problem() !== undefined);
    expect(opened.problem()).toMatchObject({ code: 'EVICTD_SYSTEMD_UNREACHABLE', message: expect.stringContaining('ENOENT') as string });
    expect(opened.connect()).toBe(false);
    expect(opened.request([{ type: 'stop', unit: 'evictd-test-a.service' }])).toBeUndefined();
    expect(opened.unit('evictd-test-a.service')).toBeUndefined();
  });

  // What core/unit-stop.ts builds on, asked of this systemd. Whether what is bound to a service that restarts is left stopped depends on who is first.
  test.each<[restart: string, survive: string[]]>([
    ['no', ['Requires', 'PartOf']],
    ['always', []],
  ])('who survives that a service with Restart=%s is killed, of those that hang on it', async (restart, survive) => {
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
    await eventually('the others are gone', () => look() === survive.join(), { circumstances: () => left.join() });
    await new Promise((resolve) => setTimeout(resolve, 500)); // … and these stay
    expect(look()).toBe(survive.join());
  });

  test.each<[restart: string, lives: boolean]>([
    ['no', false],
    ['always', true],
  ])('whether what is there for a service with Restart=%s alone survives that it is killed', async (restart, lives) => {
    const [name, needed] = ['evictd-test-a.service', 'evictd-test-needed.service'];
    units.writeAll({
      [name]: sleeper({ Restart: restart, RestartSec: '100ms' }, { Wants: needed }),
      [needed]: sleeper({}, { StopWhenUnneeded: 'yes' }),
    });
    units.start(name);
    const opened = manager(own);
    opened.follow([name]);
    await eventually('what it needs is known', () => opened.unit(needed) !== undefined);
    expect(opened.unit(needed)).toMatchObject({ activeState: 'active', stopWhenUnneeded: true, neededBy: [name] });
    const before = [name, needed].map((unit) => property(unit, 'MainPID'));
    systemd('systemctl', 'kill', '--signal=SIGKILL', name);
    await eventually('it is gone, or runs again', () =>
      lives ? !['0', before[0]].includes(property(name, 'MainPID')) : property(needed, 'ActiveState') === 'inactive',
    );
    expect(property(needed, 'MainPID')).toBe(lives ? before[1] : '0');
  });
});
