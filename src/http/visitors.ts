import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { UsageError, type EvictdError } from '../errors.js';
import type { ListenAddress } from './listen-address.js';
import { respond } from './bounded-server.js';
import { answerBy, fail, type Route } from './route.js';
import { answerPage } from './status-page.js';
import { Turns } from './turns.js';

export interface VisitorOptions {
  readonly address: ListenAddress;
  /** Those that are not `everywhere` are left out. */
  readonly routes: readonly Route[];
  /** Left out: what the build has put beside the program. */
  readonly pageFile?: string | undefined;
}

const TEXT = 'text/plain; charset=utf-8';

/** A page of another site may neither embed an answer nor learn of it. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
} as const;

/** The status page and the read-only part of the API, for those who can connect to the metrics server and are not root. */
export class Visitors {
  readonly #address: ListenAddress;
  readonly #routes: readonly Route[];
  readonly #pageFile: string;

  constructor({ address, routes, pageFile = join(import.meta.dirname, 'status-page.json') }: VisitorOptions) {
    this.#address = address;
    this.#pageFile = pageFile;
    const turns = new Turns();
    this.#routes = routes
      .filter(({ servedBy }) => servedBy === 'everywhere')
      .map((route) => ({ ...route, answer: (request) => turns.take(request.isGone, () => route.answer(request)) }));
  }

  /** Answers GET and HEAD. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refused = refusal(request, this.#address);
    if (refused !== undefined) fail(response, refused, 403);
    else await answerBy(this.#routes, request, response);
  }

  /** Answers with the status page. Never rejects. */
  async page(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refused = refusal(request, this.#address);
    if (refused !== undefined) respond(response, 403, `${refused.message}\n${refused.hint ?? ''}\n`, TEXT);
    else await answerPage(response, this.#pageFile).catch((error: unknown) => respond(response, 500, `${String(error)}\n`, TEXT));
  }
}

/** By these names a browser reaches a loopback address. With another one it follows a name that a foreign site has made (DNS rebinding). */
const LOOPBACK_NAME = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i;

function refusal({ headers }: IncomingMessage, address: ListenAddress): EvictdError | undefined {
  if ('socket' in address) return undefined;
  if (!isLoopback(address.host)) {
    return new UsageError(
      'EVICTD_API_ADDRESS',
      `the status page and the API are not served on ${address.host}, only on a loopback address or a Unix socket`,
      {
        hint: 'set metrics.listen to 127.0.0.1:9796, and connect with: ssh -L 9796:127.0.0.1:9796 HOST',
      },
    );
  }
  if (LOOPBACK_NAME.test(headers.host ?? '')) return undefined;
  return new UsageError('EVICTD_API_HOST', `the request is for ${headers.host ?? 'no host'}, which is no name of a loopback address`, {
    hint: 'use http://127.0.0.1 or http://localhost',
  });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
