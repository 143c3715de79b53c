import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import type { Log } from '../../src/log.js';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import { MetricsServer } from '../../src/metrics/server.js';
import { Status } from '../../src/metrics/status.js';
import { observations, threshold } from '../core/support.js';
import { parseExposition } from './exposition.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Started {
  readonly server: MetricsServer;
  readonly status: Status;
  readonly logged: string[];
  readonly scrapes: () => number;
}

function make(port = 0, clientTimeoutMs = 500): Started {
  let scrapes = 0;
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write, dropped: 0, flush: () => Promise.resolve() };
  const status = new Status();
  const none = (): number => 0;
  const registry = new MetricsRegistry(status, {
    version: '1.2.3',
    dryRun: false,
    journalErrors: none,
    journalLostRecords: none,
    logLinesDropped: () => scrapes++,
  });
  const server = new MetricsServer({ host: '127.0.0.1', port, status, registry, log, retryMs: 20, clientTimeoutMs });
  closers.push(() => {
    server.close();
  });
  return { server, status, logged, scrapes: () => scrapes };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

async function started(clientTimeoutMs?: number): Promise<Started & { readonly port: number }> {
  const it = make(0, clientTimeoutMs);
  it.server.start();
  await until(() => it.server.port !== undefined);
  return { ...it, port: it.server.port ?? 0 };
}

interface Answer {
  readonly code: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function ask(port: number, path: string, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ code: response.statusCode, headers: response.headers, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** A client that sends `text` and nothing more. */
async function slowClient(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  closers.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.resume().once('close', () => resolve()));
}

test('/metrics is what Prometheus reads', async () => {
  const { port, status } = await started();
  status.observe(observations(0n, { 'memory.available': 5n }), [threshold('memory.available', '100Mi')]);
  const { code, headers, body } = await ask(port, '/metrics');
  expect(code).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(parseExposition(body).get('evictd_signal_available')?.samples).toEqual({
    'evictd_signal_available{eviction_signal="memory.available"}': 5,
  });
});

test('/healthz and /readyz follow the loop', async () => {
  const { port, status } = await started();
  expect(await ask(port, '/healthz')).toMatchObject({ code: 503, body: 'not ok\nthe node has not been read yet\n' });
  status.observe({ observed: new Map(), missing: new Map([['memory.available', 'ENOENT']]) }, [threshold('memory.available', '100Mi')]);
  expect(await ask(port, '/healthz')).toMatchObject({ code: 200, body: 'ok\nthe node was read 0 s ago\n' });
  expect(await ask(port, '/readyz')).toMatchObject({ code: 503, body: 'not ok\nmemory.available cannot be read: ENOENT\n' });
  status.observe(observations(0n, { 'memory.available': 5n }), [threshold('memory.available', '100Mi')]);
  expect(await ask(port, '/readyz')).toMatchObject({ code: 200, body: 'ok\n' });
});

test.each<[rule: string, method: string, path: string, code: number]>([
  ['the index', 'GET', '/', 200],
  ['a query is ignored', 'GET', '/metrics?name[]=x', 200],
  ['nothing there', 'GET', '/metrics/', 404],
  ['no path out', 'GET', '/../etc/passwd', 404],
  ['not even to what exists', 'POST', '/metrics', 405],
  ['DELETE', 'DELETE', '/', 405],
])('%s: %s %s', async (_rule, method, path, code) => {
  const { port } = await started();
  const answer = await ask(port, path, method);
  expect(answer.code).toBe(code);
  expect(answer.headers.allow).toBe(code === 405 ? 'GET, HEAD' : undefined);
});

test.each(['/', '/metrics', '/healthz', '/nothing'])('HEAD %s is GET without a body', async (path) => {
  const { port } = await started();
  const get = await ask(port, path);
  const head = await ask(port, path, 'HEAD');
  expect(head.code).toBe(get.code);
  expect(head.headers['content-type']).toBe(get.headers['content-type']);
  expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  expect(head.body).toBe('');
});

test('a port in use is said once, tried again, and had when it is free', async () => {
  const first = await started();
  const second = make(first.port);
  second.server.start();
  await until(() => second.server.problem !== undefined);
  await new Promise((resolve) => setTimeout(resolve, 100)); // some tries
  expect(second.logged).toEqual([
    `metrics cannot be served on 127.0.0.1:${String(first.port)}: the address is in use; trying again every 0.02 s`,
  ]);
  expect(second.server.problem).toBe('the address is in use');

  first.server.close();
  await until(() => second.server.port !== undefined);
  expect((await ask(first.port, '/')).code).toBe(200);
  expect(second.logged.slice(1)).toEqual([`metrics are served on 127.0.0.1:${String(first.port)}`]);
  expect(second.server.problem).toBeUndefined();
});

test('closed while it waits for its port: it does not come back', async () => {
  const first = await started();
  const second = make(first.port);
  second.server.start();
  await until(() => second.server.problem !== undefined);
  second.server.close();
  first.server.close();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await expect(ask(first.port, '/')).rejects.toThrow('ECONNREFUSED');
});

test.each([
  ['an address that is not this machine', '192.0.2.1', 0],
  ['a port that is none', '127.0.0.1', 65536],
])('%s is a warning, nothing more', async (_rule, host, port) => {
  const { logged, status } = make();
  const none = (): number => 0;
  const registry = new MetricsRegistry(status, {
    version: '1',
    dryRun: false,
    journalErrors: none,
    journalLostRecords: none,
    logLinesDropped: none,
  });
  const write = (message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write, dropped: 0, flush: () => Promise.resolve() };
  const server = new MetricsServer({ host, port, status, registry, log });
  closers.push(() => {
    server.close();
  });
  server.start();
  await until(() => server.problem !== undefined);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/^metrics cannot be served on .*; trying again every 10 s$/);
});

test('close() ends connections at once, may be called twice, and before start()', async () => {
  const { server, port } = await started(60_000);
  const idle = await slowClient(port, 'GET / HTTP/1.1\r\n');
  const ended = closed(idle);
  server.close();
  server.close();
  await ended;
  const other = make();
  other.server.close();
  other.server.start();
  expect(other.server.port).toBeUndefined();
});

test('clients that never finish their request do not keep others out, and are cut off', async () => {
  const { port } = await started();
  const slow = await Promise.all(Array.from({ length: 31 }, () => slowClient(port, 'GET /metrics HTTP/1.1\r\nX-Slow: ')));
  expect((await ask(port, '/metrics')).code).toBe(200);
  await Promise.all(slow.map((socket) => closed(socket)));
});

test('clients that say nothing are cut off', async () => {
  const { port } = await started();
  await Promise.all((await Promise.all(Array.from({ length: 32 }, () => slowClient(port, '')))).map(closed));
  expect((await ask(port, '/')).code).toBe(200);
});

test('of many requests in one go one is answered', async () => {
  const { port, scrapes } = await started();
  const client = await slowClient(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
  const answers = (await text(client)).match(/^HTTP\/1\.1 200 OK\r\n|^evictd_build_info/gm);
  expect(answers).toHaveLength(2);
  expect(scrapes()).toBe(1);
});

test('more clients than it has room for are turned away, not queued', async () => {
  const { port } = await started();
  const slow = await Promise.all(Array.from({ length: 40 }, () => slowClient(port, 'GET / HTTP/1.1\r\n')));
  let away = 0;
  for (const socket of slow) void closed(socket).then(() => away++);
  await until(() => away >= 8);
  expect(away).toBe(8);
});

test('what is no HTTP ends with its connection', async () => {
  const { port } = await started();
  const socket = await slowClient(port, '\u0016\u0003\u0001 this is TLS\r\n\r\n');
  await closed(socket);
  expect((await ask(port, '/')).code).toBe(200);
});

test('a thousand quick scrapes', async () => {
  const { port, status } = await started();
  status.observe(observations(0n, { 'memory.available': 5n }), [threshold('memory.available', '100Mi')]);
  status.evicted('memory.available');
  for (let round = 0; round < 50; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port, '/metrics')));
    for (const { code, body } of answers) {
      expect(code).toBe(200);
      expect(body).toContain('evictd_evictions_total{eviction_signal="memory.available"} 1\n');
    }
  }
}, 20_000);
