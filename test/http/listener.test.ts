import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { constants, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { boundedServer } from '../../src/http/bounded-server.js';
import { Listener } from '../../src/http/listener.js';
import { scratch } from '../config/scratch.js';
import { eventually } from '../support/eventually.js';

const [ROOT, ANNE, BOB] = [0, 1_001, 1_002];
const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

interface Listening {
  /** Connects the next client. */
  readonly connected: () => Promise<Socket>;
  /** The clients whose connections were closed, by the order in which they have connected. */
  readonly gone: number[];
}

/** @param userOf  of the connections, in order; left out: not known */
function listening(server: Server, userOf?: () => number | undefined): Listening {
  const socket = join(scratch(), 'test.sock');
  const quiet = (): undefined => undefined;
  const listener = new Listener(server, {
    address: { socket },
    tryLock: () => ({ close: quiet }),
    mode: 0o600,
    ...(userOf && { userOf }),
    log: { debug: quiet, info: quiet, warn: quiet },
    ...{ what: 'tests', level: 'debug', code: 'EVICTD_CONTROL_LISTEN', hint: '' },
  });
  listener.start();
  const gone: number[] = [];
  const clients: Socket[] = [];
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    listener.close();
  });
  const connected = async (): Promise<Socket> => {
    const index = clients.length;
    const client = connect(socket);
    client.on('error', quiet).on('close', () => gone.push(index));
    clients.push(client.resume());
    await once(client, 'connect');
    return client;
  };
  return { connected, gone };
}

test.each<[rule: string, users: readonly number[], closed: readonly number[]]>([
  ['the oldest ones of one user are closed', many(34, ANNE), [0, 1]],
  ["a user's new ones do not close those of another user", [ROOT, BOB, ...many(32, ANNE)], [2, 3]],
  ['new ones of a user do not close those of root, however many root has', [...many(20, ROOT), BOB, ...many(13, ANNE)], [21, 22]],
  ['a new one of root closes those of other users, and its own last', [...many(2, ANNE), ...many(33, ROOT)], [0, 1, 2]],
  ['another user gets none where all are of root', [...many(32, ROOT), ANNE], [32]],
])('among more than 32 connections %s', async (_rule, users, closed) => {
  const left = [...users];
  const accepted: Socket[] = [];
  const { connected, gone } = listening(
    createServer((one) => accepted.push(one)),
    () => left.shift(),
  );
  for (const index of users.keys()) {
    await connected();
    await eventually('it is accepted', () => accepted.length === index + 1);
  }
  await eventually('those beyond the limit are closed', () => gone.length >= closed.length);
  expect(gone.toSorted((one, other) => one - other)).toEqual(closed);
  expect(accepted.filter(({ destroyed }) => !destroyed)).toHaveLength(32);
});

test.each<[rule: string, kinds: readonly ('answering' | 'idle')[], closed: readonly number[]]>([
  ['idle ones do not close answers in progress', ['answering', 'idle', 'answering', ...many(33, 'idle' as const)], [1, 3, 4, 5]],
  ['the oldest makes room for the newest where all are answered', [...many(32, 'answering' as const), 'idle'], [0]],
])('among more than 32 connections, some of them idle, %s', async (_rule, kinds, closed) => {
  let answering = 0;
  let accepted = 0;
  const { connected, gone } = listening(boundedServer(() => void (answering += 1), 60_000).on('connection', () => (accepted += 1)));
  for (const [index, kind] of kinds.entries()) {
    const client = await connected();
    const before = answering;
    client.write(kind === 'answering' ? 'GET /events HTTP/1.1\r\nHost: a\r\n\r\n' : 'GET /events HTTP/1.1\r\n');
    await eventually('it is accepted', () => accepted === index + 1 && (kind === 'idle' || answering > before));
  }
  await eventually('those beyond the limit are closed', () => gone.length >= closed.length);
  expect(gone.toSorted((one, other) => one - other)).toEqual(closed);
});

/** The answer of the kernel to an IPv6 socket with ipv6.disable=1. */
const EAFNOSUPPORT = -constants.errno.EAFNOSUPPORT;

test.each([true, false])('[::] is every address of both families, where the kernel has IPv6 (%s)', async (hasIpv6) => {
  const server = createServer((one) => one.end());
  const messages: string[] = [];
  const note = (line: string): number => messages.push(line);
  const listener = new Listener(server, {
    ...{ address: { host: '::', port: 0 }, tryLock: () => undefined, mode: 0o600 },
    ...{ log: { debug: note, info: note, warn: note }, what: 'tests', level: 'debug', code: 'EVICTD_CONTROL_LISTEN', hint: '' },
  });
  const bind = hasIpv6 ? undefined : vi.spyOn(await handleOf(), 'bind6').mockReturnValue(EAFNOSUPPORT);
  onTestFinished(() => {
    bind?.mockRestore();
    listener.close();
  });
  listener.start();
  await eventually('it listens', () => listener.port !== undefined);
  const loopback = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.filter(({ internal }) => internal));
  for (const { address } of loopback.filter(({ family }) => hasIpv6 || family === 'IPv4')) {
    const client = connect(listener.port ?? 0, address);
    await once(client.resume(), 'end');
    client.destroy();
  }
  expect(messages).toEqual([expect.stringMatching(/^tests are served on \[::\]:\d+$/)]);
});

interface TcpHandle {
  bind6(address: string, port: number, flags: number): number;
}

/** What every server of node:net binds with. */
async function handleOf(): Promise<TcpHandle> {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const handle = (server as unknown as { readonly _handle: object })._handle;
  server.close();
  return Object.getPrototypeOf(handle) as TcpHandle;
}
