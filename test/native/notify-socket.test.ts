import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { receiveNotifications } from '../support/notify-receiver.js';
import { after, closing, makeDirectory, openDescriptors, thrownBy, until } from './kernel.js';

const { ENOENT, ECONNREFUSED, EBADF, EAGAIN } = constants.errno as Record<string, number>;

const receive = async (address: string) => {
  const receiver = await receiveNotifications(address);
  after(() => receiver.close());
  return receiver;
};

describe('the service manager’s socket', () => {
  test.each([
    ['a path', () => join(makeDirectory(), 'notify')],
    ['an abstract name', () => `@evictd-test-${randomBytes(6).toString('hex')}`],
  ])('%s: each state is a datagram', async (_what, address) => {
    const at = address();
    const receiver = await receive(at);
    const socket = closing(new native.NotifySocket(at));
    expect(socket.notify('READY=1\nSTATUS=guarding')).toBe(0);
    expect(socket.notify('WATCHDOG=1')).toBe(0);
    await until('both', () => receiver.messages.length === 2);
    expect(receiver.messages).toEqual(['READY=1|STATUS=guarding', 'WATCHDOG=1']);
  });

  test('is an errno for a manager that has ended, and gets messages when it is there again', async () => {
    const address = join(makeDirectory(), 'notify');
    const socket = closing(new native.NotifySocket(address));
    expect(socket.notify('READY=1')).toBe(ENOENT);
    const receiver = await receive(address);
    expect(socket.notify('READY=1')).toBe(0);
    await until('it', () => receiver.messages.length === 1);
    await receiver.close();
    expect(socket.notify('READY=1')).toBe(ECONNREFUSED);
  });

  test('does not wait for a manager that does not read', async () => {
    const address = `@evictd-test-${randomBytes(6).toString('hex')}`;
    const receiver = await receive(address);
    const socket = closing(new native.NotifySocket(address));
    const results = Array.from({ length: 5000 }, () => socket.notify(`STATUS=${'x'.repeat(4096)}`));
    expect(new Set(results)).toEqual(new Set([0, EAGAIN]));
    await receiver.close();
  });

  test.each([
    ['relative/path', 'EINVAL'],
    ['vsock:2:1234', 'EINVAL'],
    ['/', 'EINVAL'],
    [`/${'x'.repeat(107)}`, 'ENAMETOOLONG'],
  ])('with the address %s is %s', (address, code) => {
    expect(thrownBy(() => new native.NotifySocket(address))).toMatchObject({ code, path: address });
  });

  test('is closed once, and then EBADF', () => {
    const before = openDescriptors();
    const socket = new native.NotifySocket('@evictd-test-absent');
    expect(openDescriptors()).toBe(before + 1);
    socket.close();
    socket.close();
    expect(openDescriptors()).toBeLessThanOrEqual(before);
    expect(socket.notify('READY=1')).toBe(EBADF);
  });
});
