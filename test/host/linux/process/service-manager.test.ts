import { expect, test } from 'vitest';
import { openServiceManager } from '../../../../src/host/linux/process/service-manager.js';
import { native } from '../../../../src/native/index.js';

const address = '@evictd-test-no-manager';

test('what the environment says is taken out of it: it is not meant for those that evictd starts', () => {
  const env: NodeJS.ProcessEnv = { NOTIFY_SOCKET: address, WATCHDOG_USEC: '2000000', WATCHDOG_PID: String(process.pid), PATH: '/bin' };
  const manager = openServiceManager(native, env);
  expect(manager?.watchdogMs).toBe(2_000);
  expect(env).toEqual({ PATH: '/bin' });
  manager?.close();
});

test.each<[rule: string, env: NodeJS.ProcessEnv]>([
  ['no address', {}],
  ['an empty one', { NOTIFY_SOCKET: '' }],
  ['one of a kind that is not known', { NOTIFY_SOCKET: 'vsock:2:1' }],
  ['one that is too long', { NOTIFY_SOCKET: `/${'x'.repeat(200)}` }],
])('no service manager asks for notifications: %s', (_rule, env) => {
  expect(openServiceManager(native, env)).toBeUndefined();
});

test.each<[rule: string, env: NodeJS.ProcessEnv, watchdogMs: number | undefined]>([
  ['no process is named', { WATCHDOG_USEC: '500000' }, 500],
  ['another process is meant', { WATCHDOG_USEC: '500000', WATCHDOG_PID: '1' }, undefined],
  ['none', {}, undefined],
  ['nothing that is an interval', { WATCHDOG_USEC: 'soon' }, undefined],
  ['0', { WATCHDOG_USEC: '0' }, undefined],
])('the watchdog: %s', (_rule, env, watchdogMs) => {
  const manager = openServiceManager(native, { ...env, NOTIFY_SOCKET: address });
  expect(manager?.watchdogMs).toBe(watchdogMs);
  manager?.close();
});

test('a missing manager: the notification fails without an effect', () => {
  const manager = openServiceManager(native, { NOTIFY_SOCKET: address });
  expect(manager?.notify('READY=1')).toBe(false);
  manager?.close();
  manager?.close();
  expect(manager?.notify('READY=1')).toBe(false);
});
