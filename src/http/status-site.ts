import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { UsageError, type EvictdError } from '../errors.js';
import type { ListenAddress } from './listen-address.js';
import { respond } from './bounded-server.js';
import { answerBy, fail, type Route } from './route.js';
import { StatusPage } from './status-page.js';
import { tokenRefusal } from './token.js';
import { throttled } from './response-throttle.js';

export interface StatusSiteOptions {
  readonly address: ListenAddress;
  /** The path in force now. undefined: local clients need no token, and others are refused. */
  readonly tokenFile: () => string | undefined;
  /** Routes of the API. The site has those for `everywhere`. */
  readonly routes: readonly Route[];
  /** Default: the file that the build has put beside the program. */
  readonly pageFile?: string | undefined;
}

const TEXT = 'text/plain; charset=utf-8';
const PAGE_FILE = join(import.meta.dirname, 'status-page.json');

interface Refusal {
  readonly status: number;
  readonly error: EvictdError;
}

/** A page of another site may neither embed an answer nor learn of it. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
} as const;

/** The status page and the read-only part of the API. Its clients can connect to the metrics server and need not be root. */
export class StatusSite {
  readonly #routes: readonly Route[];
  readonly #page: StatusPage;

  constructor(private readonly options: StatusSiteOptions) {
    this.#page = new StatusPage(options.pageFile ?? PAGE_FILE);
    this.#routes = throttled(options.routes.filter(({ servedBy }) => servedBy === 'everywhere'));
  }

  /** Answers GET and HEAD. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = await this.#refusal(request, response);
    if (refused === undefined) await answerBy(this.#routes, request, response);
    else fail(response, refused.error, refused.status);
  }

  /** Answers with the status page. Never rejects. */
  async page(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = await this.#refusal(request, response);
    if (refused !== undefined) {
      respond(response, refused.status, `${refused.error.message}\n${refused.error.hint ?? ''}\n`, TEXT);
      return;
    }
    await this.#page.answer(response).catch((error: unknown) => {
      respond(response, 500, `${String(error)}\n`, TEXT);
    });
  }

  async #refusal(request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { address, tokenFile } = this.options;
    const file = tokenFile();
    if (file === undefined) {
      const error = withoutToken(request, address);
      return error && { status: 403, error };
    }
    try {
      const error = await tokenRefusal(request.headers.authorization, file);
      if (error) response.setHeader('WWW-Authenticate', 'Basic realm="evictd", charset="UTF-8"');
      return error && { status: 401, error };
    } catch (error) {
      return { status: 503, error: error as EvictdError };
    }
  }
}

/** The names of loopback addresses. Another name may be one that a foreign site has pointed at this machine (DNS rebinding). */
const LOOPBACK_NAME = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i;

function withoutToken({ headers }: IncomingMessage, address: ListenAddress): EvictdError | undefined {
  if ('socket' in address) return undefined;
  if (!isLoopback(address.host)) {
    return new UsageError(
      'EVICTD_API_ADDRESS',
      `the status page and the API need a token on ${address.host}, which is not a loopback address`,
      {
        hint: 'set metrics.tokenFile; or set metrics.listen to 127.0.0.1:9796 and connect with: ssh -L 9796:127.0.0.1:9796 HOST',
      },
    );
  }
  if (LOOPBACK_NAME.test(headers.host ?? '')) return undefined;
  return new UsageError('EVICTD_API_HOST', `the Host header is ${headers.host ?? 'missing'}, and must name a loopback address`, {
    hint: 'use http://127.0.0.1 or http://localhost; or set metrics.tokenFile, which permits any name',
  });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
