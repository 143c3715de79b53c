import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { receiveNotifications, type NotifyReceiver } from '../support/notify-receiver.js';
import { Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile, until } from './wait.js';

/** As systemd starts a service of Type=notify with WatchdogSec=1. */
const started = async (config: Record<string, unknown>, watchdog = false): Promise<{ evictd: Evictd; manager: NotifyReceiver }> => {
  const directory = scratchDirectory();
  const address = join(directory, 'notify');
  const manager = await receiveNotifications(address);
  onTestFinished(() => manager.close());
  const env = [`NOTIFY_SOCKET=${address}`, ...(watchdog ? ['WATCHDOG_USEC=1000000'] : [])];
  const evictd = await new Evictd({ config, directory, through: ['env', ...env] }).guarding();
  return { evictd, manager };
};
const told = (manager: NotifyReceiver, what: RegExp): Promise<void> =>
  until(`the manager is told ${String(what)} (${manager.told.join(', ')})`, () => manager.told.some((line) => what.test(line)));

describe(`what a service manager is told (${ON})`, () => {
  test('ready when it guards, what it does, that it stops', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const { evictd, manager } = await started(guarding(node));
    await told(manager, /^READY=1/);
    expect(manager.told[0]).toBe(`READY=1|STATUS=guarding ${node.path}`);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await told(manager, /^STATUS=guarding .*, MemoryPressure; evictions: 1, last: batch$/);
    expect(await evictd.stop()).toBe(0);
    await told(manager, /^STOPPING=1\|/);
    expect(manager.told.filter((line) => line.startsWith('READY=1'))).toHaveLength(1);
  });

  test('a reload, taken or refused, begins and ends', async () => {
    const { evictd, manager } = await started(guarding(testNode()));
    evictd.child.kill('SIGHUP');
    await until('it to be over', () => manager.told.filter((line) => line.startsWith('READY=1')).length === 2);
    writeFileSync(evictd.configFile, 'nonsense: 1\n');
    evictd.child.kill('SIGHUP');
    await until('it to be over', () => manager.told.filter((line) => line.startsWith('READY=1')).length === 3);
    const states = manager.told.map((line) => line.split('|')[0]);
    expect(states).toEqual(['READY=1', 'RELOADING=1', 'READY=1', 'RELOADING=1', 'READY=1']);
    expect(manager.told[1]).toMatch(/^RELOADING=1\|MONOTONIC_USEC=\d+$/);
  });

  test('that it lives, at half the interval that is asked for', async () => {
    const { evictd, manager } = await started(guarding(testNode()), true);
    await until('three signs of life', () => manager.told.filter((line) => line === 'WATCHDOG=1').length >= 3);
    expect(await evictd.stop()).toBe(0);
  });

  test('no sign of life where nobody watches', async () => {
    const { manager } = await started(guarding(testNode()));
    await aWhile();
    expect(manager.told).not.toContain('WATCHDOG=1');
  });

  test('where there is none, or one that cannot be used, it guards all the same', async () => {
    const config = guarding(testNode());
    const evictd = await new Evictd({ config, through: ['env', 'NOTIFY_SOCKET=vsock:2:1'] }).guarding();
    expect(await evictd.stop()).toBe(0);
  });
});
