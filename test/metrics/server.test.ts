import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Log } from '../../src/log/log.js';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import { MetricsServer } from '../../src/metrics/server.js';
import { Status } from '../../src/metrics/status.js';
import { observations, threshold } from '../core/support.js';
import { eventually } from '../support/eventually.js';
import { parseExposition } from './exposition.js';

/** No client times out, however busy the machine is. */
const PATIENT_MS = 600_000;
/** For clients that shall time out. */
const IMPATIENT_MS = 100;

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

function make(port = 0, clientTimeoutMs = PATIENT_MS): Started {
  let scrapes = 0;
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write, dropped: 0, flush: () => Promise.resolve() };
  const status = new Status(() => 0n);
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

async function started(clientTimeoutMs?: number): Promise<Started & { readonly port: number }> {
  const it = make(0, clientTimeoutMs);
  it.server.start();
  return { ...it, port: await eventually('the server to listen', () => it.server.port) };
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

/** `closed`: with all that it was sent. */
interface Client {
  readonly closed: Promise<string>;
}

/** A client that sends `text` and nothing more. */
async function slowClient(port: number, text: string): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  closers.push(() => socket.destroy());
  let got = '';
  socket.setEncoding('utf8').on('data', (sent: string) => (got += sent));
  // It may be closed before other clients are connected.
  const closed = new Promise<string>((resolve) => void socket.once('close', () => resolve(got)));
  await once(socket, 'connect');
  socket.write(text);
  return { closed };
}

const slowClients = (count: number, port: number, text: string): Promise<Client[]> =>
  Promise.all(Array.from({ length: count }, () => slowClient(port, text)));

/** A client that timed out occupies a connection until it notices. */
const answersAgain = (port: number): Promise<true> =>
  eventually('the server to answer', () =>
    ask(port, '/').then(
      ({ code }) => code === 200,
      () => false,
    ),
  );

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
  await eventually('its problem', () => second.server.problem);
  await new Promise((resolve) => setTimeout(resolve, 100)); // some tries
  expect(second.logged).toEqual([
    `metrics cannot be served on 127.0.0.1:${String(first.port)}: the address is in use; trying again every 0.02 s`,
  ]);
  expect(second.server.problem).toBe('the address is in use');

  first.server.close();
  await eventually('the port to be had', () => second.server.port !== undefined);
  expect((await ask(first.port, '/')).code).toBe(200);
  expect(second.logged.slice(1)).toEqual([`metrics are served on 127.0.0.1:${String(first.port)}`]);
  expect(second.server.problem).toBeUndefined();
});

test('closed while it waits for its port: it does not come back', async () => {
  const first = await started();
  const second = make(first.port);
  second.server.start();
  await eventually('its problem', () => second.server.problem);
  second.server.close();
  first.server.close();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(second.server.port).toBeUndefined();
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
  await eventually('its problem', () => server.problem);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/^metrics cannot be served on .*; trying again every 10 s$/);
});

test('close() ends connections at once, may be called twice, and before start()', async () => {
  const { server, port } = await started();
  const idle = await slowClient(port, 'GET / HTTP/1.1\r\n');
  server.close();
  server.close();
  await idle.closed;
  const other = make();
  other.server.close();
  other.server.start();
  expect(other.server.port).toBeUndefined();
});

test('clients that never finish their request do not keep others out', async () => {
  const { port } = await started();
  await slowClients(31, port, 'GET /metrics HTTP/1.1\r\nX-Slow: ');
  expect((await ask(port, '/metrics')).code).toBe(200);
});

test.each([
  ['never finish their request', 'GET /metrics HTTP/1.1\r\nX-Slow: '],
  ['say nothing', ''],
])('clients that %s are cut off', async (_what, text) => {
  const { port } = await started(IMPATIENT_MS);
  await Promise.all((await slowClients(32, port, text)).map(({ closed }) => closed));
  await answersAgain(port);
});

test('of many requests in one go one is answered', async () => {
  const { port, scrapes } = await started();
  const { closed } = await slowClient(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
  const answers = (await closed).match(/^HTTP\/1\.1 200 OK\r\n|^evictd_build_info/gm);
  expect(answers).toHaveLength(2);
  expect(scrapes()).toBe(1);
});

test('more clients than it has room for are turned away, not queued', async () => {
  const { port } = await started();
  let away = 0;
  for (const { closed } of await slowClients(40, port, 'GET / HTTP/1.1\r\n')) void closed.then(() => away++);
  await eventually('eight to be turned away', () => away >= 8);
  expect(away).toBe(8);
});

test('what is no HTTP ends with its connection', async () => {
  const { port } = await started();
  const { closed } = await slowClient(port, '\u0016\u0003\u0001 this is TLS\r\n\r\n');
  await closed;
  expect((await ask(port, '/')).code).toBe(200);
});

test('scrape after scrape: each gives its connection back', async () => {
  const { port, status } = await started();
  status.observe(observations(0n, { 'memory.available': 5n }), [threshold('memory.available', '100Mi')]);
  status.evicted('memory.available');
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port, '/metrics')));
    for (const { code, body } of answers) {
      expect(code).toBe(200);
      expect(body).toContain('evictd_evictions_total{eviction_signal="memory.available"} 1\n');
    }
  }
});
