import { expect, test } from 'vitest';
import { openServiceManager } from '../../../../src/host/linux/process/service-manager.js';
import { native } from '../../../../src/native/index.js';

const address = '@evictd-test-no-manager';

test('the variables of the service manager are removed from the environment, so that programs of evictd do not get them', () => {
  const env: NodeJS.ProcessEnv = { NOTIFY_SOCKET: address, WATCHDOG_USEC: '2000000', WATCHDOG_PID: String(process.pid), PATH: '/bin' };
  const manager = openServiceManager(native, env);
  expect(manager?.watchdogMs).toBe(2_000);
  expect(env).toEqual({ PATH: '/bin' });
  manager?.close();
});

test.each<[rule: string, env: NodeJS.ProcessEnv]>([
  ['there is no address', {}],
  ['the address is empty', { NOTIFY_SOCKET: '' }],
  ['the address is of an unknown kind', { NOTIFY_SOCKET: 'vsock:2:1' }],
  ['the address is too long', { NOTIFY_SOCKET: `/${'x'.repeat(200)}` }],
])('evictd has no service manager: %s', (_rule, env) => {
  expect(openServiceManager(native, env)).toBeUndefined();
});

test.each<[rule: string, env: NodeJS.ProcessEnv, watchdogMs: number | undefined]>([
  ['no process is named', { WATCHDOG_USEC: '500000' }, 500],
  ['another process is named', { WATCHDOG_USEC: '500000', WATCHDOG_PID: '1' }, undefined],
  ['none', {}, undefined],
  ['the value is not an interval', { WATCHDOG_USEC: 'soon' }, undefined],
  ['0', { WATCHDOG_USEC: '0' }, undefined],
])('the watchdog interval: %s', (_rule, env, watchdogMs) => {
  const manager = openServiceManager(native, { ...env, NOTIFY_SOCKET: address });
  expect(manager?.watchdogMs).toBe(watchdogMs);
  manager?.close();
});

test('without a manager the notification fails without an effect', () => {
  const manager = openServiceManager(native, { NOTIFY_SOCKET: address });
  expect(manager?.notify('READY=1')).toBe(false);
  manager?.close();
  manager?.close();
  expect(manager?.notify('READY=1')).toBe(false);
});
