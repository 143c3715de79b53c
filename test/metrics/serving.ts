import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach } from 'vitest';
import type { Log } from '../../src/log/log.js';
import { tryLock } from '../../src/compose/try-lock.js';
import type { ListenAddress } from '../../src/http/listen-address.js';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import type { Listener } from '../../src/http/listener.js';
import type { Route } from '../../src/http/route.js';
import { metricsServer } from '../../src/metrics/server.js';
import { Status } from '../../src/metrics/status.js';
import { eventually } from '../support/eventually.js';

/** No client times out, however busy the machine is. */
export const PATIENT_MS = 600_000;
/** For clients that shall time out. */
export const IMPATIENT_MS = 100;

export const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

export interface Started {
  readonly server: Listener;
  readonly status: Status;
  readonly logged: string[];
  readonly scrapes: () => number;
}

const answering = (method: Route['method'], path: string, servedBy: Route['servedBy']): Route => ({
  method,
  path,
  servedBy,
  answer: () => ({ json: { path } }),
});
export const ROUTES = [
  answering('GET', '/api/v1/status', 'everywhere'),
  answering('GET', '/api/v1/secret', 'socket'),
  answering('POST', '/api/v1/pause', 'socket'),
] as const;

export function make(
  port = 0,
  clientTimeoutMs = PATIENT_MS,
  address: ListenAddress = { host: '127.0.0.1', port },
  more: Partial<Parameters<typeof metricsServer>[0]> = {},
): Started {
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
    memoryNodes: () => [],
  });
  const server = metricsServer({
    address,
    tryLock,
    status,
    registry,
    routes: ROUTES,
    tokenFile: () => undefined,
    log,
    retryMs: 20,
    clientTimeoutMs,
    ...more,
  });
  closers.push(() => {
    server.close();
  });
  return { server, status, logged, scrapes: () => scrapes };
}

export async function started(clientTimeoutMs?: number, pageFile?: string): Promise<Started & { readonly port: number }> {
  const it = make(0, clientTimeoutMs, undefined, pageFile === undefined ? {} : { pageFile });
  it.server.start();
  return { ...it, port: await eventually('the server to listen', () => it.server.port) };
}

export interface Answer {
  readonly code: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly bytes: Buffer;
}

export function ask(port: number, path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const bytes = Buffer.concat(parts);
        resolve({ code: response.statusCode, headers: response.headers, body: bytes.toString(), bytes });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** `closed`: with all that it was sent. */
export interface Client {
  readonly closed: Promise<string>;
}

/** A client that sends `text` and nothing more. */
export async function slowClient(port: number, text: string): Promise<Client> {
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

export const slowClients = (count: number, port: number, text: string): Promise<Client[]> =>
  Promise.all(Array.from({ length: count }, () => slowClient(port, text)));

/** A client that timed out occupies a connection until it notices. */
export const answersAgain = (port: number): Promise<true> =>
  eventually('the server to answer', () =>
    ask(port, '/').then(
      ({ code }) => code === 200,
      () => false,
    ),
  );
