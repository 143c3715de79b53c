import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Log } from '../../src/log/log.js';
import { tryLock } from '../../src/compose/try-lock.js';
import { ResponseThrottle } from '../../src/http/response-throttle.js';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import { metricsServer } from '../../src/metrics/server.js';
import { observations, threshold } from '../core/support.js';
import { eventually } from '../support/eventually.js';
import { parseExposition } from './exposition.js';
import { answersAgain, ask, closers, IMPATIENT_MS, make, PATIENT_MS, slowClient, slowClients, started, type Client } from './serving.js';

test('/metrics has the text that Prometheus reads', async () => {
  const { port, status } = await started();
  status.observe(observations(0n, { 'memory.available': 5n }), [threshold('memory.available', '100Mi')]);
  const { code, headers, body } = await ask(port, '/metrics');
  expect(code).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(parseExposition(body).get('evictd_signal_available_bytes')?.samples).toEqual({
    'evictd_signal_available_bytes{eviction_signal="memory.available"}': 5,
  });
});

test.each<[rule: string, accept: string | undefined, type: string]>([
  ['there is no Accept header', undefined, 'text/plain; version=0.0.4; charset=utf-8'],
  ['a browser', 'text/html,application/xhtml+xml,*/*;q=0.8', 'text/plain; version=0.0.4; charset=utf-8'],
  [
    'Prometheus 2.42',
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  ],
  ['only the draft of OpenMetrics is accepted', 'application/openmetrics-text;version=0.0.1', 'text/plain; version=0.0.4; charset=utf-8'],
  ['text is wanted more', 'Application/OpenMetrics-Text; q=0.3, text/plain; q=0.4', 'text/plain; version=0.0.4; charset=utf-8'],
  ['OpenMetrics is refused', 'application/openmetrics-text;q=0', 'text/plain; version=0.0.4; charset=utf-8'],
])('/metrics has the format that the client prefers: %s', async (_rule, accept, type) => {
  const { port } = await started();
  const { headers, body } = await ask(port, '/metrics', 'GET', accept === undefined ? {} : { accept });
  expect(headers['content-type']).toBe(type);
  expect(body.endsWith('\n# EOF\n')).toBe(type.startsWith('application/'));
});

test.each([
  ['gzip', 'gzip'],
  ['deflate, gzip;q=0.5', 'gzip'],
  ['gzip;q=0', undefined],
  ['br', undefined],
  ['', undefined],
])('/metrics is compressed if the client accepts it: %j', async (accepted, encoding) => {
  const { port } = await started();
  const { headers, bytes } = await ask(port, '/metrics', 'GET', { 'accept-encoding': accepted });
  expect(headers['content-encoding']).toBe(encoding);
  expect(Number(headers['content-length'])).toBe(bytes.length);
  expect(parseExposition(String(encoding === 'gzip' ? gunzipSync(bytes) : bytes)).size).toBeGreaterThan(20);
});

test('/healthz and /readyz follow the loop', async () => {
  const { port, status } = await started();
  expect(await ask(port, '/healthz')).toMatchObject({ code: 503, body: 'not ok\nthe node has not been read yet\n' });
  status.observe({ observed: new Map(), missing: new Map([['memory.available', 'ENOENT']]) }, [threshold('memory.available', '100Mi')]);
  expect(await ask(port, '/healthz')).toMatchObject({ code: 200, body: 'ok\nthe last tick or pass was 0 s ago\n' });
  expect(await ask(port, '/readyz')).toMatchObject({ code: 503, body: 'not ok\nmemory.available cannot be read: ENOENT\n' });
  status.observe(observations(0n, { 'memory.available': 5n }), [threshold('memory.available', '100Mi')]);
  expect(await ask(port, '/readyz')).toMatchObject({ code: 200, body: 'ok\n' });
});

test.each<[rule: string, method: string, path: string, code: number]>([
  ['the index', 'GET', '/', 200],
  ['a query is ignored', 'GET', '/metrics?name[]=x', 200],
  ['a path that does not exist', 'GET', '/metrics/', 404],
  ['a path that leads out of the directory', 'GET', '/../etc/passwd', 404],
  ['a path that leads to an existing file outside', 'POST', '/metrics', 405],
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

test('the API has the read-only routes by GET and HEAD, and no browser may keep, embed or forward an answer', async () => {
  const { port } = await started();
  const { code, headers, body } = await ask(port, '/api/v1/status?signal=x');
  expect({ code, json: JSON.parse(body) as unknown }).toEqual({ code: 200, json: { path: '/api/v1/status' } });
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  expect(await ask(port, '/api/v1/status', 'HEAD')).toMatchObject({ code: 200, body: '' });
  expect((await ask(port, '/api/v1/pause', 'POST')).code).toBe(405);
  for (const path of ['/api/v1/secret', '/api/v1/pause']) {
    const none = await ask(port, path);
    expect(none).toMatchObject({ code: 404, body: expect.stringContaining('"hint": "there is GET /api/v1/status"') as string });
  }
});

test('the status page is for browsers, runs only its own script, and may not be embedded', async () => {
  const policy = "default-src 'none'; script-src 'sha256-x'; frame-ancestors 'none'";
  const page = { html: '<!doctype html><title>evictd</title>', contentSecurityPolicy: policy };
  const pageFile = join(mkdtempSync(join(tmpdir(), 'evictd-test-')), 'status-page.json');
  onTestFinished(() => rmSync(dirname(pageFile), { recursive: true }));
  writeFileSync(pageFile, JSON.stringify(page));
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const { port } = await started(PATIENT_MS, pageFile);
  const { code, headers, body } = await ask(port, '/', 'GET', { accept });
  expect({ code, body }).toEqual({ code: 200, body: page.html });
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  expect(await ask(port, '/', 'GET', { accept, host: 'evil.example' })).toMatchObject({
    code: 403,
    body: 'the Host header is evil.example, and must name a loopback address\nuse http://127.0.0.1 or http://localhost; or set metrics.tokenFile, which permits any name\n',
  });
  expect((await ask(port, '/', 'GET', { accept: '*/*' })).body).toMatch(/^evictd\n/);
});

test('the status page is read once, and again only after it could not be read', async () => {
  const pageFile = join(mkdtempSync(join(tmpdir(), 'evictd-test-')), 'status-page.json');
  onTestFinished(() => rmSync(dirname(pageFile), { recursive: true }));
  const { port } = await started(PATIENT_MS, pageFile);
  const page = () => ask(port, '/', 'GET', { accept: 'text/html' });
  expect((await page()).code).toBe(500);
  writeFileSync(pageFile, JSON.stringify({ html: '<!doctype html>first', contentSecurityPolicy: "default-src 'none'" }));
  expect(await page()).toMatchObject({ code: 200, body: '<!doctype html>first' });
  writeFileSync(pageFile, 'not read');
  expect(await page()).toMatchObject({ code: 200, body: '<!doctype html>first' });
});

test.each<[host: string, code: number]>([
  ['127.0.0.1', 200],
  ['127.1.2.3:1', 200],
  ['localhost:9796', 200],
  ['LOCALHOST', 200],
  ['[::1]:9796', 200],
  ['evil.example', 403],
  ['127.0.0.1.evil.example', 403],
  ['localhost.evil.example:9796', 403],
  ['x@localhost', 403],
])('a page of a site whose name resolves to this address is refused, and a scrape is not: Host %j', async (host, code) => {
  const { port } = await started();
  const answer = await ask(port, '/api/v1/status', 'GET', { host });
  expect(answer.code).toBe(code);
  expect(answer.body.includes('"code": "EVICTD_API_HOST"')).toBe(code === 403);
  expect((await ask(port, '/metrics', 'GET', { host })).code).toBe(200);
});

const TOKEN = 'Zm9yIGEgdGVzdCBvbmx5';
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

async function guarded(token: string | undefined): Promise<{ readonly port: number; readonly file: string }> {
  const file = join(mkdtempSync(join(tmpdir(), 'evictd-test-')), 'token');
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  if (token !== undefined) writeFileSync(file, token);
  const { server } = make(0, PATIENT_MS, { host: '0.0.0.0', port: 0 }, { tokenFile: () => file });
  server.start();
  return { port: await eventually('the server to listen', () => server.port), file };
}

test.each<[rule: string, authorization: string | undefined, code: number]>([
  ['the token', `Bearer ${TOKEN}`, 200],
  ['a scheme in another case', `bearer ${TOKEN}`, 200],
  ['the password of a browser', basic(`me:${TOKEN}`), 200],
  ['no user', basic(`:${TOKEN}`), 200],
  ['nothing', undefined, 401],
  ['an empty password', basic('me:'), 401],
  ['the token as the user', basic(`${TOKEN}:`), 401],
  ['a part of it', `Bearer ${TOKEN.slice(0, -1)}`, 401],
  ['more than the token', `Bearer ${TOKEN}x`, 401],
  ['the token in another case', `Bearer ${TOKEN.toLowerCase()}`, 401],
  ['another authentication scheme', `Digest ${TOKEN}`, 401],
])(
  'with metrics.tokenFile the page and the API need the token, with any user name, and a scrape needs none: %s',
  async (_rule, authorization, code) => {
    const { port } = await guarded(`${TOKEN}\n`);
    const headers = { host: 'node1.example:9796', ...(authorization !== undefined && { authorization }) };
    const answer = await ask(port, '/api/v1/status', 'GET', headers);
    expect(answer.code).toBe(code);
    expect(answer.headers['www-authenticate']).toBe(code === 401 ? 'Basic realm="evictd", charset="UTF-8"' : undefined);
    expect((await ask(port, '/', 'GET', { ...headers, accept: 'text/html' })).code).toBe(code === 401 ? 401 : 500); // no page is built here
    for (const path of ['/metrics', '/']) expect((await ask(port, path, 'GET', { host: 'node1.example' })).code).toBe(200);
  },
);

test('a new token takes effect at once; without a usable token the page and the API are closed, and say why', async () => {
  const { port, file } = await guarded(TOKEN);
  const status = (token: string) => ask(port, '/api/v1/status', 'GET', { authorization: `Bearer ${token}` });
  writeFileSync(file, 'another token of a file');
  expect((await status(TOKEN)).code).toBe(401);
  expect((await status('another')).code).toBe(401);
  writeFileSync(file, `another${TOKEN}`);
  expect((await status(`another${TOKEN}`)).code).toBe(200);
  writeFileSync(file, '\n');
  const { code, body } = await ask(port, '/api/v1/status', 'GET', { authorization: 'Bearer ' });
  expect({ code, body }).toMatchObject({ code: 503, body: expect.stringContaining('the token has fewer than 16 characters') as string });
  rmSync(file);
  const none = await status('');
  expect(none).toMatchObject({ code: 503, body: expect.stringContaining('"code": "EVICTD_API_TOKEN_FILE"') as string });
  expect(none.body).toContain('ENOENT');
});

test('without a token the page and the API are closed on a public address, and the answer says what to configure', async () => {
  const { server } = make(0, PATIENT_MS, { host: '0.0.0.0', port: 0 });
  server.start();
  const port = await eventually('the server to listen', () => server.port);
  const { code, body } = await ask(port, '/api/v1/status');
  expect({ code, body }).toMatchObject({ code: 403, body: expect.stringContaining('"code": "EVICTD_API_ADDRESS"') as string });
  expect(body).toContain('set metrics.tokenFile; or set metrics.listen to 127.0.0.1:9796');
  expect(await ask(port, '/', 'GET', { accept: 'text/html' })).toMatchObject({
    code: 403,
    body: expect.stringContaining('set metrics.tokenFile') as string,
  });
  expect((await ask(port, '/metrics')).code).toBe(200);
});

test('scrapes at the same time share an answer', async () => {
  vi.spyOn(process, 'cpuUsage').mockImplementation((before) => ({ user: before === undefined ? 0 : 10_000, system: 0 }));
  onTestFinished(() => void vi.restoreAllMocks());
  const { port, scrapes } = await started();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port, '/metrics')));
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([200]));
  expect(scrapes()).toBeLessThan(20);
});

/** A throttle, and answers of it that take so much processor time. */
function throttledAnswers() {
  let usedMs = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation((before) => ({ user: usedMs * 1_000 - (before?.user ?? 0), system: 0 }));
  onTestFinished(() => void vi.restoreAllMocks());
  const throttle = new ResponseThrottle();
  const order: string[] = [];
  const taking = (name: string, ms: number, gone = false): Promise<unknown> =>
    throttle.run(
      () => gone,
      () => {
        order.push(name);
        usedMs += ms;
      },
    );
  return { order, taking };
}

test('answers are sent one after another, with pauses, and a client that has closed costs none', async () => {
  const { order, taking } = throttledAnswers();
  const first = taking('first', 5);
  const second = taking('second', 0);
  const gone = taking('gone', 0, true);
  const last = taking('last', 0);
  await first;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(order).toEqual(['first']);
  await second;
  await expect(gone).rejects.toThrow('the client has gone');
  await last;
  expect(order).toEqual(['first', 'second', 'last']);
});

test('an answer that took a minute does not keep the next one back for twenty', async () => {
  const { order, taking } = throttledAnswers();
  await Promise.all([taking('first', 60_000), taking('second', 0)]);
  expect(order).toEqual(['first', 'second']);
});

test('a port in use is reported once, tried again, and used when it is free', async () => {
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

test('a server that is closed while it waits for its port does not start', async () => {
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
  ['an invalid port', '127.0.0.1', 65536],
])('%s is only a warning', async (_rule, host, port) => {
  const { logged, status } = make();
  const none = (): number => 0;
  const registry = new MetricsRegistry(status, {
    version: '1',
    dryRun: false,
    journalErrors: none,
    journalLostRecords: none,
    logLinesDropped: none,
    memoryNodes: () => [],
  });
  const write = (message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write, dropped: 0, flush: () => Promise.resolve() };
  const server = metricsServer({ address: { host, port }, tryLock, status, registry, routes: [], tokenFile: () => undefined, log });
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

test.each([
  ['never finish their request', 'GET /metrics HTTP/1.1\r\nX-Slow: '],
  ['say nothing', ''],
])('32 clients that %s do not keep a scrape out, because the oldest is closed', async (_what, text) => {
  const { port } = await started();
  const clients = await slowClients(32, port, text);
  let gone = 0;
  for (const { closed } of clients) void closed.then(() => (gone += 1));
  expect((await ask(port, '/metrics')).code).toBe(200);
  await clients[0]?.closed;
  expect((await ask(port, '/metrics')).code).toBe(200);
  expect(gone).toBeLessThanOrEqual(2);
});

test.each([
  ['never finish their request', 'GET /metrics HTTP/1.1\r\nX-Slow: '],
  ['say nothing', ''],
])('clients that %s are disconnected', async (_what, text) => {
  const { port } = await started(IMPATIENT_MS);
  await Promise.all((await slowClients(32, port, text)).map(({ closed }) => closed));
  await answersAgain(port);
});

test('only one of many requests sent at once is answered', async () => {
  const { port, scrapes } = await started();
  const { closed } = await slowClient(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
  const answers = (await closed).match(/^HTTP\/1\.1 200 OK\r\n|^evictd_build_info/gm);
  expect(answers).toHaveLength(2);
  expect(scrapes()).toBe(1);
});

test('at most 32 connections are open, the newest ones', async () => {
  const { port } = await started();
  const clients: Client[] = [];
  for (let i = 0; i < 40; i += 1) clients.push(await slowClient(port, 'GET / HTTP/1.1\r\n'));
  const away: number[] = [];
  clients.forEach(({ closed }, index) => void closed.then(() => away.push(index)));
  await eventually('eight to be closed', () => away.length >= 8);
  expect((await ask(port, '/')).code).toBe(200);
  await clients[8]?.closed;
  expect(away.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('text that is not HTTP ends the connection', async () => {
  const { port } = await started();
  const { closed } = await slowClient(port, '\u0016\u0003\u0001 this is TLS\r\n\r\n');
  await closed;
  expect((await ask(port, '/')).code).toBe(200);
});

test('each of many scrapes closes its connection', async () => {
  const { port, status } = await started();
  status.observe(observations(0n, { 'memory.available': 5n }), [threshold('memory.available', '100Mi')]);
  status.evicted('memory.available', { decision: 1, workload: '/batch' });
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port, '/metrics')));
    for (const { code, body } of answers) {
      expect(code).toBe(200);
      expect(body).toContain('evictd_evictions_total{eviction_signal="memory.available"} 1\n');
    }
  }
});
