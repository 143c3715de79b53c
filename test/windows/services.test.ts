import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { entryOf } from './children.js';
import { native, thrownBy } from './native.js';
import { spawnSync } from './spawn.js';

const plugPlay = () => native.services().find(({ name }) => name === 'PlugPlay');

// An earlier test may have stopped it.
beforeEach(async () => {
  spawnSync('net.exe', ['start', 'PlugPlay'], { stdio: 'ignore' });
  await eventually('PlugPlay runs', () => plugPlay()?.state === 'running');
});

describe('services of the service manager of Wine', () => {
  test('have a name, a state, and a process id if they run', () => {
    const services = native.services();
    const names = services.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('PlugPlay');
    expect(plugPlay()).toMatchObject({ state: 'running', ownProcess: false, acceptsStop: true });
    expect(entryOf(plugPlay()?.pid ?? 0)?.name).toBe('plugplay.exe');
    const stopped = services.filter(({ state }) => state === 'stopped');
    expect(stopped.length).toBeGreaterThan(0);
    expect(stopped.every(({ pid }) => pid === 0)).toBe(true);
  });

  test('stopService() stops a service', async () => {
    native.stopService('PlugPlay');
    await eventually('the service has stopped', () => plugPlay()?.state === 'stopped');
    const again = await eventually('the manager answers in time', () => thrownBy(() => native.stopService('PlugPlay')));
    expect(again).toMatchObject({ code: 'ERROR_SERVICE_NOT_ACTIVE', errno: -1062, path: 'PlugPlay' });
  });

  test('a missing name is an error', () => {
    const missing = { code: 'ERROR_SERVICE_DOES_NOT_EXIST', errno: -1060, path: 'evictd-test-none' };
    expect(thrownBy(() => native.stopService('evictd-test-none'))).toMatchObject(missing);
  });
});
