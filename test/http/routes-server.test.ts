import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { EvictdError, UnavailableError, UsageError } from '../../src/errors.js';
import { EventStream } from '../../src/http/event-stream.js';
import type { Route } from '../../src/http/route.js';
import { routesServer } from '../../src/http/routes-server.js';
import { eventually } from '../support/eventually.js';

let handled = 0;

const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/echo',
    servedBy: 'everywhere',
    answer: ({ query }) => {
      handled += 1;
      return { json: { said: query.get('say') } };
    },
  },
  { method: 'POST', path: '/echo', servedBy: 'socket', answer: ({ body }) => Promise.resolve({ status: 202, json: { body } }) },
  {
    method: 'GET',
    path: '/wrong',
    servedBy: 'socket',
    answer: () => {
      throw new UsageError('EVICTD_USAGE', 'no', { hint: 'yes' });
    },
  },
  { method: 'GET', path: '/later', servedBy: 'socket', answer: () => Promise.reject(new UnavailableError('EVICTD_USAGE', 'not yet')) },
  { method: 'GET', path: '/broken', servedBy: 'socket', answer: () => Promise.reject(new EvictdError('EVICTD_USAGE', 'broken')) },
  { method: 'GET', path: '/defect', servedBy: 'socket', answer: () => Promise.reject(new TypeError('x')) },
];

const servers: Server[] = [];
afterEach(() => {
  handled = 0;
  for (const server of servers.splice(0)) server.close();
});

async function serving(timeoutMs = 600_000, routes: readonly Route[] = ROUTES, users: readonly number[] = []): Promise<number> {
  const left = [...users];
  const server = routesServer(routes, timeoutMs, { userOf: () => left.shift() ?? 0 }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const ask = (port: number, method: string, path: string, body = ''): Promise<{ status: number; type: string; json: unknown }> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          json: text === '' ? undefined : (JSON.parse(text) as unknown),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });

const connections = (): Promise<number> => new Promise((resolve) => servers[0]?.getConnections((_error, count) => resolve(count)));

const error = (code: string, message: string, hint?: string) => ({ error: { code, message, ...(hint !== undefined && { hint }) } });
const NONE = 'no such operation:';

test.each<[rule: string, method: string, path: string, body: string, status: number, json: unknown]>([
  ['a query', 'GET', '/echo?say=a%20b&x=?', '', 200, { said: 'a b' }],
  ['a body and a status of its own', 'POST', '/echo', 'hello', 202, { body: 'hello' }],
  ['HEAD is GET without a body', 'HEAD', '/echo', '', 200, undefined],
  ['another method', 'GET', '/wrong', '', 400, error('EVICTD_USAGE', 'no', 'yes')],
  ['an error that is temporary', 'GET', '/later', '', 503, error('EVICTD_USAGE', 'not yet')],
  ['evictd failed', 'GET', '/broken', '', 500, error('EVICTD_USAGE', 'broken')],
  ['a defect', 'GET', '/defect', '', 500, error('EVICTD_INTERNAL', 'TypeError: x')],
  [
    'another method of the path',
    'DELETE',
    '/echo',
    '',
    405,
    error('EVICTD_API_ROUTE', `${NONE} DELETE /echo`, 'there is GET /echo, POST /echo'),
  ],
  ['a body at the limit', 'POST', '/echo', 'x'.repeat(16_384), 202, { body: 'x'.repeat(16_384) }],
  ['a body beyond it', 'POST', '/echo', 'x'.repeat(16_385), 400, error('EVICTD_API_BODY', 'the request is larger than 16384 bytes')],
])('%s: %s %s', async (_rule, method, path, body, status, json) => {
  const answer = await ask(await serving(), method, path, body);
  expect(answer).toEqual({ status, type: 'application/json; charset=utf-8', json });
});

test('an unknown path gives 404 with the existing paths', async () => {
  const { status, json } = await ask(await serving(), 'GET', '//x');
  expect(status).toBe(404);
  expect(json).toMatchObject({ error: { code: 'EVICTD_API_ROUTE', message: `${NONE} GET //x` } });
  expect(json).toMatchObject({ error: { hint: expect.stringContaining('POST /echo') as string } });
});

const serveEvents = (document: () => unknown, longestMs?: number): Promise<number> => {
  const stream = new EventStream('status', document, 20, longestMs);
  return serving(600_000, [{ method: 'GET', path: '/events', servedBy: 'everywhere', answer: () => ({ stream: stream.join() }) }]);
};

const follow = (port: number): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/events', agent: false }, resolve).on('error', reject).end();
  });

test('events are one document for all clients, one client too many is refused, and no document is made without a client', async () => {
  let made = 0;
  const port = await serveEvents(() => ({ made: (made += 1) }));
  const first = await follow(port);
  expect(first.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  let got = '';
  first.setEncoding('utf8').on('data', (part: string) => (got += part));
  await eventually('three events', () => got.includes('"made":3}\n\n'));
  expect(got).toMatch(/^(?:event: status\ndata: \{"made":[123]\}\n\n){3}/);
  const others = await Promise.all(Array.from({ length: 7 }, () => follow(port)));
  let last = '';
  others[6]?.setEncoding('utf8').on('data', (part: string) => (last += part));
  await eventually('an event for all after its own', () => {
    const [, , next] = last.split('\n\n');
    return next !== undefined && next !== '' && got.includes(`${next}\n\n`);
  });
  expect(await ask(port, 'GET', '/events')).toMatchObject({ status: 503, json: { error: { code: 'EVICTD_API_CLIENTS' } } });
  for (const each of [first, ...others]) each.on('error', () => undefined).destroy();
  await eventually('all clients to be gone', async () => (await ask(port, 'HEAD', '/events')).status === 200);
  await eventually('the last to be gone', async () => {
    const before = made;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return made === before;
  });
});

test('events for eight clients of other users do not keep root out', async () => {
  const stream = new EventStream('status', () => ({}), 20);
  const answer: Route['answer'] = ({ isRoot }) => ({ stream: stream.join(isRoot) });
  const users = [...Array.from({ length: 9 }, () => 1000), 0];
  const port = await serving(600_000, [{ method: 'GET', path: '/events', servedBy: 'everywhere', answer }], users);
  const others: IncomingMessage[] = [];
  for (let each = 0; each < 8; each++) others.push(await follow(port));
  expect((await ask(port, 'GET', '/events')).status).toBe(503);
  const root = await follow(port);
  expect(root.statusCode).toBe(200);
  for (const each of [...others, root]) each.on('error', () => undefined).destroy();
});

test('a user with many requests takes turns with other users, and root does not wait for them', async () => {
  let isOpen: (() => void) | undefined;
  const opened = new Promise<void>((resolve) => (isOpen = resolve));
  const said: string[] = [];
  const answer: Route['answer'] = async ({ query }) => {
    said.push(query.get('as') ?? '');
    if (query.get('as') === 'first') await opened;
    return { json: {} };
  };
  const port = await serving(600_000, [{ method: 'GET', path: '/', servedBy: 'socket', answer }], [1000, 1000, 0]);
  const first = ask(port, 'GET', '/?as=first');
  await eventually('the first is answered', () => said.length === 1);
  const second = ask(port, 'GET', '/?as=second');
  await eventually('the second has connected', async () => (await connections()) === 2);
  await ask(port, 'GET', '/?as=root');
  expect(said).toEqual(['first', 'root']);
  isOpen?.();
  await Promise.all([first, second]);
  expect(said).toEqual(['first', 'root', 'second']);
});

test('events end after a while, so that an old token is not used for ever', async () => {
  const port = await serveEvents(() => 'x', 100);
  const events = await (await follow(port)).setEncoding('utf8').toArray();
  expect(events.join('')).toMatch(/^(?:event: status\ndata: "x"\n\n)+$/);
  (await follow(port)).destroy();
});

test('events end for a client that reads nothing', async () => {
  let made = 0;
  const port = await serveEvents(() => ((made += 1), 'x'.repeat(32 << 20))); // more than a socket holds
  await follow(port); // reads its head
  await eventually('the connection to be closed', async () => (await connections()) === 0);
  expect(made).toBe(1);
});

test('events without a document are an error, and the clients are disconnected', async () => {
  let known = true;
  const document = (): object => {
    if (known) return {};
    throw new UnavailableError('EVICTD_API_STARTING', 'not yet');
  };
  const stream = new EventStream('status', document, 20);
  const port = await serving(600_000, [
    { method: 'GET', path: '/events', servedBy: 'everywhere', answer: () => ({ stream: stream.join() }) },
  ]);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.write('GET /events HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  known = false;
  await ended;
  expect(await ask(port, 'GET', '/events')).toMatchObject({ status: 503, json: error('EVICTD_API_STARTING', 'not yet') });
});

test.each([
  ['says nothing', ''],
  ['sends its head byte by byte', `GET /echo HTTP/1.1\r\nX: ${'x'.repeat(1_000)}`],
  ['sends its body byte by byte', `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${'x'.repeat(999)}`],
])('a client that %s is disconnected', async (_rule, text) => {
  const socket = connect(await serving(300), '127.0.0.1');
  socket.on('error', () => undefined);
  let sent = 0;
  const sending = setInterval(() => socket.write(text.slice(sent, (sent += 1))), 20);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(sending);
  expect(sent).toBeLessThan(1_000);
});

test('a connection handles one request, and a second one is ignored', async () => {
  const socket = connect(await serving(), '127.0.0.1');
  let got = '';
  socket.setEncoding('utf8').on('data', (part: string) => (got += part));
  socket.write('GET /echo HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  expect(got.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
  expect(handled).toBe(1);
});
