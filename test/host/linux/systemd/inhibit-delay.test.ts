import { describe, expect, test } from 'vitest';
import type { DBusMessage } from 'dbus-native/lib/message.js';
import { awaitInhibitDelay, readInhibitDelay } from '../../../../src/host/linux/systemd/inhibit-delay.js';
import { eventually } from '../../../support/eventually.js';
import { BusPeer } from './bus-peer.js';

/** Whatever else the machine does. */
const LONG = 60_000_000_000n;
const HELLO = { signature: 's', body: [':1.1'] };
const there = (isThere: boolean) => ({ signature: 'b', body: [isThere] });

/** A bus with a logind that answers so. */
async function bus(logind: (call: DBusMessage) => ReturnType<BusPeer['answer']>, runs = true): Promise<BusPeer> {
  const peer = await BusPeer.open();
  peer.answer = (call) => {
    if (call.member === 'Hello') return HELLO;
    if (call.member === 'NameHasOwner') return there(runs);
    return call.member === 'Get' ? logind(call) : { signature: '', body: [] };
  };
  return peer;
}

describe('the longest delay of a shutdown', () => {
  test('is read from logind in microseconds', async () => {
    const peer = await bus(() => ({ signature: 'v', body: [['t', 5_000_000n]] }));
    const fileOf = () => '/etc/systemd/logind.conf.d/zzz.conf';
    expect(await readInhibitDelay({ path: peer.path, withinNs: LONG, fileOf })).toEqual({
      ...{ kind: 'known', maxNs: 5_000_000_000n, setIn: '/etc/systemd/logind.conf.d/zzz.conf' },
    });
    expect(peer.calls.find(({ member }) => member === 'Get')).toMatchObject({
      destination: 'org.freedesktop.login1',
      path: '/org/freedesktop/login1',
      body: ['org.freedesktop.login1.Manager', 'InhibitDelayMaxUSec'],
    });
  });

  test('is not read from a logind that does not run, because the bus would start it', async () => {
    const peer = await bus(() => undefined, false);
    expect(await readInhibitDelay({ path: peer.path, withinNs: LONG })).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('does not run') as string,
    });
    expect(peer.calls.map(({ member }) => member)).not.toContain('Get');
  });

  test.each<[what: string, logind: () => ReturnType<BusPeer['answer']>, reason: string]>([
    ['logind refuses', () => ({ error: 'org.freedesktop.DBus.Error.AccessDenied' }), 'it says no'],
    ['logind answers with another type', () => ({ signature: 'v', body: [['s', '5s']] }), 'does not report the delay'],
    ['logind does not answer', () => undefined, 'no answer'],
  ])('is unknown: %s', async (_what, logind, reason) => {
    const peer = await bus(logind);
    const answer = await readInhibitDelay({ path: peer.path, withinNs: reason === 'no answer' ? 50_000_000n : LONG });
    expect(answer).toMatchObject({ kind: 'unknown', reason: expect.stringContaining(reason) as string });
  });

  test('is unknown without a bus', async () => {
    const peer = await BusPeer.open();
    const answer = await readInhibitDelay({ path: `${peer.path}-nowhere` });
    expect(answer).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('ENOENT') as string });
  });

  test('is read when logind starts', async () => {
    const peer = await bus(() => ({ signature: 'v', body: [['t', 7_000_000n]] }), false);
    const reported = awaitInhibitDelay(peer.path);
    await eventually('it was looked for', () => peer.calls.some(({ member }) => member === 'NameHasOwner'));
    const answer = peer.answer;
    peer.answer = (call) => (call.member === 'NameHasOwner' ? there(true) : answer(call));
    peer.signal('NameOwnerChanged', '/org/freedesktop/DBus');
    expect(await reported).toMatchObject({ kind: 'known', maxNs: 7_000_000_000n });
    await eventually('no client is connected any more', () => peer.connected === 0);
  });

  test('is unknown after the timeout, if logind does not start', async () => {
    const peer = await bus(() => undefined, false);
    expect(await awaitInhibitDelay(peer.path, 50_000_000n)).toBeUndefined();
    await eventually('no client is connected any more', () => peer.connections > 0 && peer.connected === 0);
  });
});
