import { marshall } from 'dbus-native/lib/message.js';
import { expect, onTestFinished, test } from 'vitest';
import { BusConnection, type BusReply } from '../../../../src/host/linux/systemd/bus-connection.js';
import { eventually } from '../../../support/eventually.js';
import { BusPeer, reply } from './bus-peer.js';

const CALL = { path: '/a', interface: 'a.b', member: 'Ask', signature: 's', body: ['something'] };

class Reported {
  readonly said: string[] = [];
  readonly connection: BusConnection;

  constructor(path: string, daemon = false) {
    this.connection = new BusConnection({ path, daemon }, ['PropertiesChanged'], {
      up: () => this.said.push('up'),
      down: (reason) => this.said.push(`down: ${reason}`),
      signal: (member, path) => this.said.push(`${member} ${path}`),
    });
    onTestFinished(() => {
      this.connection.close();
    });
  }

  async up(): Promise<this> {
    await eventually('it is up', () => this.said.includes('up'));
    return this;
  }

  async down(): Promise<string> {
    return eventually('it is down', () => this.said.find((line) => line.startsWith('down')));
  }

  async ask(): Promise<BusReply> {
    const replies: BusReply[] = [];
    expect(this.connection.call(CALL, (reply) => replies.push(reply))).toBe(true);
    return eventually('it is answered', () => replies[0]);
  }
}

test('a call is answered, with numbers of 64 bits as they are', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => ({ signature: 'ta{sv}', body: [2n ** 64n - 1n, [['Name', ['s', 'a']]]] });
  const reported = await new Reported(peer.path).up();
  expect(await reported.ask()).toEqual({ ok: true, body: [2n ** 64n - 1n, { Name: 'a' }] });
  expect(peer.calls[0]).toMatchObject({ path: '/a', interface: 'a.b', member: 'Ask', body: ['something'] });
});

test('an answer that arrives byte by byte is one answer, and two at once are two', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => undefined;
  const reported = await new Reported(peer.path).up();
  const first = reported.ask();
  await eventually('it was asked', () => peer.calls.length === 1);
  for (const byte of reply(peer.calls[0] ?? {}, { signature: 's', body: ['slow'] })) {
    peer.send(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await first).toEqual({ ok: true, body: ['slow'] });
  const both = [reported.ask(), reported.ask()];
  await eventually('it was asked twice more', () => peer.calls.length === 3);
  peer.send(Buffer.concat(peer.calls.slice(1).map((call, index) => reply(call, { signature: 's', body: [String(index)] }))));
  expect(await Promise.all(both)).toEqual([
    { ok: true, body: ['0'] },
    { ok: true, body: ['1'] },
  ]);
});

test('an error has its D-Bus name and its text', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => ({ error: 'org.freedesktop.DBus.Error.UnknownMethod' });
  const reported = await new Reported(peer.path).up();
  expect(await reported.ask()).toEqual({ ok: false, name: 'org.freedesktop.DBus.Error.UnknownMethod', message: 'it says no' });
});

test('Hello and the match rules are sent before the connection is up', async () => {
  const peer = await BusPeer.open();
  await new Reported(peer.path, true).up();
  await eventually('it has asked for signals', () => peer.calls.length === 2);
  expect(peer.calls.map(({ member }) => member)).toEqual(['Hello', 'AddMatch']);
});

test('configured match rules replace the rules for systemd', async () => {
  const peer = await BusPeer.open();
  const rules = ["type='signal',sender='a.b'", "type='signal',sender='a.c'"];
  const connection = new BusConnection({ path: peer.path, daemon: true, rules }, [], {
    up: () => undefined,
    down: () => undefined,
    signal: () => undefined,
  });
  onTestFinished(() => {
    connection.close();
  });
  await eventually('it has asked for signals', () => peer.calls.length === 3);
  expect(peer.calls.slice(1).map(({ body }) => body?.[0])).toEqual(rules);
});

test('only wanted signals are delivered, whatever their body', async () => {
  const peer = await BusPeer.open();
  const reported = await new Reported(peer.path).up();
  peer.signal('UnitNew', '/org/freedesktop/systemd1/unit/a_2eservice');
  peer.signal('PropertiesChanged', '/org/freedesktop/systemd1/unit/b_2eservice');
  await eventually('one is reported', () => reported.said.length === 2);
  expect(reported.said).toEqual(['up', 'PropertiesChanged /org/freedesktop/systemd1/unit/b_2eservice']);
});

test('a signal belongs to the unit that it names, however long the name', async () => {
  const peer = await BusPeer.open();
  const reported = await new Reported(peer.path).up();
  const paths = Array.from({ length: 60 }, (_, length) => `/org/freedesktop/systemd1/unit/${'a'.repeat(length + 1)}`);
  for (const path of paths) peer.signal('PropertiesChanged', path);
  await eventually('all are reported', () => reported.said.length === 61);
  expect(reported.said.slice(1)).toEqual(paths.map((path) => `PropertiesChanged ${path}`));
});

test.each<[what: string, happens: (peer: BusPeer) => void, reason: string]>([
  [
    'the other side closes the connection',
    (peer) => {
      peer.hangUp();
    },
    'closed the connection',
  ],
  [
    'the other side sends bytes that are not a message',
    (peer) => {
      peer.send(Buffer.from('HTTP/1.1 400 Bad Request\r\n'));
    },
    'no D-Bus message: it begins with 72',
  ],
  [
    'a message claims to be endless',
    (peer) => {
      peer.send(endless());
    },
    'a D-Bus message of',
  ],
])('when %s, pending calls fail with the reason, and the connection is over', async (_what, happens, reason) => {
  const peer = await BusPeer.open();
  peer.answer = () => undefined;
  const reported = await new Reported(peer.path).up();
  const requested = reported.ask();
  await eventually('it was asked', () => peer.calls.length === 1);
  happens(peer);
  expect(await requested).toMatchObject({ ok: false, name: undefined, message: expect.stringContaining(reason) as string });
  expect(await reported.down()).toContain(reason);
  expect(reported.connection.call(CALL, () => undefined)).toBe(false);
});

function endless(): Buffer {
  const bytes = marshall({ type: 2, serial: 1, replySerial: 1 });
  bytes.writeUInt32LE(0x7fff_ffff, 4);
  return bytes;
}

test.each<[what: string, admits: boolean | undefined]>([['refuses', false]])(
  'a connection to a peer that %s does not come up',
  async (_what, admits) => {
    const peer = await BusPeer.open();
    peer.admits = admits;
    const reported = new Reported(peer.path);
    expect(await reported.down()).toContain('authentication');
    expect(reported.said).not.toContain('up');
  },
);

test('a connection without a listening peer fails', async () => {
  expect(await new Reported('/nonexistent/evictd-test').down()).toContain('ENOENT');
});

test('signals that are not read do not accumulate', async () => {
  const peer = await BusPeer.open();
  const reported = await new Reported(peer.path).up();
  // It stops reading: what the kernel holds and what evictd holds is bounded, and the caller hears of it.
  peer.pause();
  const call = { ...CALL, body: ['x'.repeat(60_000)] };
  let sent = 0;
  while (reported.connection.call(call, () => undefined) && sent < 1_000) sent += 1;
  expect(sent).toBeLessThan(100);
});
