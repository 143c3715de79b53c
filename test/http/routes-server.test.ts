import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type AddressInfo, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { EvictdError, UnavailableError, UsageError } from '../../src/errors.js';
import type { Route } from '../../src/http/route.js';
import { routesServer } from '../../src/http/routes-server.js';

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

async function serving(timeoutMs = 600_000): Promise<number> {
  const server = routesServer(ROUTES, timeoutMs).listen(0, '127.0.0.1');
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

const error = (code: string, message: string, hint?: string) => ({ error: { code, message, ...(hint !== undefined && { hint }) } });
const NONE = 'no such operation:';

test.each<[rule: string, method: string, path: string, body: string, status: number, json: unknown]>([
  ['a query', 'GET', '/echo?say=a%20b&x=?', '', 200, { said: 'a b' }],
  ['a body, and a status of its own', 'POST', '/echo', 'hello', 202, { body: 'hello' }],
  ['HEAD is GET without a body', 'HEAD', '/echo', '', 200, undefined],
  ['another method', 'GET', '/wrong', '', 400, error('EVICTD_USAGE', 'no', 'yes')],
  ['it may succeed later', 'GET', '/later', '', 503, error('EVICTD_USAGE', 'not yet')],
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

test('no such path: 404, and what there is', async () => {
  const { status, json } = await ask(await serving(), 'GET', '//x');
  expect(status).toBe(404);
  expect(json).toMatchObject({ error: { code: 'EVICTD_API_ROUTE', message: `${NONE} GET //x` } });
  expect(json).toMatchObject({ error: { hint: expect.stringContaining('POST /echo') as string } });
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

test('one request a connection: a second one is not even handled', async () => {
  const socket = connect(await serving(), '127.0.0.1');
  let got = '';
  socket.setEncoding('utf8').on('data', (part: string) => (got += part));
  socket.write('GET /echo HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  expect(got.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
  expect(handled).toBe(1);
});
