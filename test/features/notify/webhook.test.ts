import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openWebhook } from '../../../src/features/notify/webhook.js';
import type { Notifier } from '../../../src/features/notify/notifier.js';
import { eventually } from '../../support/eventually.js';
import { NOTHING, parts, scratch } from './evictions.js';

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly method: string | undefined;
  readonly body: string;
}

/** A real server. `answers`: status codes in order, the last one again and again; undefined: no answer. */
async function server(...answers: (number | undefined)[]): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ headers: request.headers, method: request.method, body });
      const status = answers.length > 1 ? answers.shift() : answers[0];
      if (status !== undefined) response.writeHead(status).end('thanks');
    });
  };
  const http = createServer(listen);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}/evictd?a=b`, received };
}

const RECORD = { type: 'outcome', decision: 7, victim: { name: 'bätch' }, message: 'evicted' };

function webhook(url: string, given: { readonly secretFile?: string; readonly timeoutNs?: bigint } = {}) {
  const failures: string[] = [];
  const { parts: made, reported } = parts({ reportFailure: (error) => failures.push(error) });
  const config = { url, secretFile: undefined, timeoutNs: 60_000_000_000n, ...given };
  const opened = openWebhook({ firstMs: 1, longestMs: 4 })({ ...NOTHING, webhook: config }, made);
  if (opened === undefined) throw new Error('it was not opened');
  onTestFinished(() => {
    opened.close();
  });
  return { opened, reported, failures, send: (record = RECORD) => (opened as Required<Pick<Notifier, 'recorded'>>).recorded(record) };
}

test('the webhook body is the journal line, signed with the key in the file', async () => {
  const { url, received } = await server(204);
  const secretFile = join(scratch(), 'key');
  writeFileSync(secretFile, 'sécret\n');
  const { reported, send } = webhook(url, { secretFile });
  send();
  await eventually('it is sent', () => reported.length > 0);
  expect(reported).toEqual(['sent']);
  const [request] = received;
  expect(request?.method).toBe('POST');
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ node: 'machine', dryRun: false, ...RECORD });
  const hmac = createHmac('sha256', 'sécret')
    .update(request?.body ?? '')
    .digest('hex');
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-evictd-event': 'outcome',
    'x-evictd-signature': `sha256=${hmac}`,
  });
});

test('a delivery with a temporary failure is sent again, as the same delivery, before the next one', async () => {
  const { url, received } = await server(500, 429, 200);
  const { reported, send } = webhook(url);
  send();
  send({ ...RECORD, decision: 8 });
  await eventually('both are sent', () => reported.length === 2);
  expect(reported).toEqual(['sent', 'sent']);
  expect(received.map(({ body }) => (JSON.parse(body) as { decision: number }).decision)).toEqual([7, 7, 7, 8]);
  const ids = received.map(({ headers }) => headers['x-evictd-delivery']);
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(ids[3]).not.toBe(ids[0]);
});

test.each([400, 401, 404, 301])('a delivery that is answered by %i is not repeated', async (status) => {
  const { url, received } = await server(status);
  const { reported, send } = webhook(url);
  send();
  await eventually('it has failed', () => reported.length > 0);
  expect(reported).toEqual([expect.stringMatching(`^failed: 127\\.0\\.0\\.1:\\d+ answers ${String(status)}$`)]);
  expect(received).toHaveLength(1);
});

test('a server that never answers is given up after ten attempts', async () => {
  const { url, received } = await server(undefined);
  const { reported, failures, send } = webhook(url, { timeoutNs: 10_000_000n });
  send();
  await eventually('it is noticed at once', () => failures.length > 0);
  expect(failures[0]).toMatch(/does not answer; evictd retries$/);
  await eventually('it has failed', () => reported.length > 0);
  expect(reported).toEqual([expect.stringMatching(/^failed: 127\.0\.0\.1:\d+ does not answer$/)]);
  expect(received.length).toBeLessThanOrEqual(10);
});

test('a delivery to a port on which no program listens is repeated', async () => {
  const { reported, send } = webhook('http://127.0.0.1:1/');
  send();
  await eventually('it has failed', () => reported.length > 0);
  expect(reported).toEqual([expect.stringMatching(/^failed: .*ECONNREFUSED/)]);
});

test('the queue of deliveries is bounded', async () => {
  const { url, received } = await server(undefined);
  const { reported, send } = webhook(url);
  for (let count = 0; count < 70; count++) send();
  expect(reported).toEqual(Array.from({ length: 6 }, () => 'dropped: 64 notifications wait for the server'));
  await eventually('the first is being sent', () => received.length === 1);
});

test('without the key no delivery is sent', async () => {
  const { url, received } = await server(200);
  const { reported, send } = webhook(url, { secretFile: '/no/such/key' });
  send();
  await eventually('it has failed', () => reported.length > 0);
  expect(reported).toEqual([expect.stringMatching(/^failed: ENOENT/)]);
  expect(received).toEqual([]);
});

test('waiting deliveries are dropped at the end', async () => {
  const { url, received } = await server(undefined);
  const { opened, reported, send } = webhook(url);
  send();
  await eventually('it is being sent', () => received.length === 1);
  opened.close();
  opened.close();
  expect(reported).toEqual([]);
});
