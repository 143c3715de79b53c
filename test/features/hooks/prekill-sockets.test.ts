import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { callPrekill, prekillSockets } from '../../../src/features/hooks/prekill-sockets.js';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync('/run/evictd-test-prekill-');
  chmodSync(directory, 0o755);
  path = join(directory, 'hook');
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
});

/** A hook; returns what it was sent. */
async function hook(react: (socket: Socket) => void): Promise<string[]> {
  const calls: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      calls.push(data.toString());
      react(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return calls;
}

const call = (signal = new AbortController().signal) => callPrekill(path, '/a.slice/"b"', signal);

test.each<[what: string, reply: string, error: string | undefined]>([
  ['has done its work', '{"parameters":{}}\0', undefined],
  ['has no parameters to return', '{}\0', undefined],
  ['refuses', '{"error":"org.varlink.service.MethodNotFound","parameters":{}}\0', 'org.varlink.service.MethodNotFound'],
  ['replies nonsense', 'hello\0', 'its reply is not JSON'],
  ['never ends its reply', 'x'.repeat(70_000), 'its reply is too long'],
])('a prekill hook that %s', async (_what, reply, error) => {
  const calls = await hook((socket) => socket.write(reply));
  expect(await call()).toBe(error);
  expect(calls).toEqual(['{"method":"io.systemd.oom.Prekill.Notify","parameters":{"cgroup":"/a.slice/\\"b\\""}}\0']);
});

test('a prekill hook that replies in several parts is read to the end', async () => {
  await hook((socket) => {
    socket.write('{"parame');
    setImmediate(() => socket.write('ters":{}}\0'));
  });
  expect(await call()).toBeUndefined();
});

test('a prekill hook that closes the connection is done', async () => {
  await hook((socket) => socket.end());
  expect(await call()).toBe('it closed the connection without a reply');
});

test('a prekill hook that does not reply is given up at the deadline', async () => {
  const deadline = new AbortController();
  await hook(() => {
    deadline.abort();
  });
  expect(await call(deadline.signal)).toMatch(/abort/);
});

test('a socket on which no program listens is an error', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  await new Promise((resolve) => server.close(resolve));
  expect(await call()).toMatch(/ENOENT|ECONNREFUSED/);
});

test('only sockets count, and only in a directory that only root may write', async () => {
  await hook(() => undefined);
  writeFileSync(join(directory, 'file'), '');
  expect(await prekillSockets(directory)).toEqual([path]);
  chmodSync(directory, 0o777);
  expect(await prekillSockets(directory)).toEqual([]);
  expect(await prekillSockets('/no/such/directory')).toEqual([]);
});
