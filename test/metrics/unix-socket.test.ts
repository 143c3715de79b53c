import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { closers, make, PATIENT_MS, type Started } from './serving.js';

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

/** GET over a Unix socket. */
const askSocket = (socketPath: string, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });

function socketPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  directories.push(directory);
  return join(directory, 'metrics.sock');
}

const atSocket = (socket: string): Started => make(0, PATIENT_MS, { socket });

/** Leaves its socket as a killed process does. */
async function leaveSocket(path: string): Promise<void> {
  const dead = createServer().listen(`${path}.dead`);
  await once(dead, 'listening');
  renameSync(`${path}.dead`, path);
  dead.close();
}

test('a Unix socket is accessible to root and its group, and is removed with the server', async () => {
  const path = socketPath();
  const { server, logged } = atSocket(path);
  server.start();
  await eventually('the server to listen', () => logged.length > 0);
  expect(logged).toEqual([`metrics are served on unix:${path}`]);
  expect(statSync(path).mode & 0o777).toBe(0o660);
  expect(await askSocket(path, '/metrics')).toBe(200);
  server.close();
  expect(readdirSync(join(path, '..'))).toEqual([]);
});

test('a Unix socket has its mode from the start, and its removal at once has no effect', async () => {
  const path = socketPath();
  const umask = process.umask(0);
  const { server, logged } = atSocket(path);
  try {
    server.start();
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(process.umask(0)).toBe(0);
  } finally {
    process.umask(umask);
  }
  rmSync(path);
  await eventually('the server to listen', () => logged.length > 0);
});

test('a path that is too long for a Unix socket is refused, not truncated', () => {
  const path = `${socketPath()}${'x'.repeat(108)}`;
  const { server, logged } = atSocket(path);
  server.start();
  expect(logged).toEqual([expect.stringMatching(/its path has \d+ bytes, and the kernel takes 107; trying again/)]);
  expect(readdirSync(dirname(path))).toEqual([]);
});

test('a Unix socket that a killed evictd has left is replaced', async () => {
  const path = socketPath();
  await leaveSocket(path);
  expect(existsSync(path)).toBe(true);
  const { server } = atSocket(path);
  server.start();
  await eventually('the server to answer', () => askSocket(path, '/').catch(() => undefined));
});

test('a Unix socket on which a zombie listens is replaced', async () => {
  const path = socketPath();
  const zombie = createServer().listen(path); // it accepts no more, and has no lock
  closers.push(() => zombie.close());
  await once(zombie, 'listening');
  const { server } = atSocket(path);
  server.start();
  await eventually('the server to answer', () => askSocket(path, '/').catch(() => undefined));
});

test('a Unix socket in use is not replaced; evictd listens when it is free', async () => {
  const path = socketPath();
  const [first, second] = [atSocket(path), atSocket(path)];
  first.server.start();
  second.server.start();
  await eventually('its problem', () => second.server.problem);
  expect(second.logged).toEqual([`metrics cannot be served on unix:${path}: the address is in use; trying again every 0.02 s`]);
  expect(await askSocket(path, '/')).toBe(200);
  first.server.close();
  await eventually('the socket to be had', () => second.server.problem === undefined);
  expect(await askSocket(path, '/')).toBe(200);
});

test('a file that is not a socket is kept', async () => {
  const path = socketPath();
  writeFileSync(path, 'of another program');
  const { server, logged } = atSocket(path);
  server.start();
  await eventually('its problem', () => server.problem);
  expect(logged[0]).toContain(`metrics cannot be served on unix:${path}: ${path} exists and is not a socket;`);
  server.close();
  expect(readdirSync(join(path, '..'))).toEqual(['metrics.sock']);
});
