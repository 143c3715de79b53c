import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { jsonDocument } from '../core/name/json-text.js';
import { EvictdError, InputError, UnavailableError, UsageError } from '../errors.js';
import { respond } from './bounded-server.js';

export interface ApiRequest {
  readonly query: URLSearchParams;
  /** '' without a body. */
  readonly body: string;
  /** The user and process that ask: 'uid 0, process 4711 (curl)'. undefined: not known. */
  readonly by?: string | undefined;
  /** Left out: not known. */
  readonly isRoot?: boolean | undefined;
  /** Whether the client has closed the connection. */
  readonly isGone: () => boolean;
}

export interface ApiAnswer {
  /** The HTTP status. Left out: 200. */
  readonly status?: number;
  /** When the same request may succeed. */
  readonly retryAfterSeconds?: number;
  /** Becomes JSON. */
  readonly json: unknown;
}

/** Server-sent events. */
export interface ApiStream {
  /** Writes the head and the events. HEAD is answered without it. */
  readonly stream: (response: ServerResponse) => void;
}

/** One operation of the API (docs/api.md). */
export interface Route {
  /** `GET` changes nothing. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** `everywhere`: read-only, and fit for everyone who may read the metrics. */
  readonly servedBy: 'socket' | 'everywhere';
  /**
   * An EvictdError that it throws is the answer: 400 for a wrong request, 422 if it names what is not there, 503 if it may
   * succeed later, else 500.
   */
  readonly answer: (request: ApiRequest) => Promise<ApiAnswer | ApiStream> | ApiAnswer | ApiStream;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** A request has a few short fields. */
const MAX_BODY_BYTES = 16_384;

/** As in ApiRequest. */
export type PeerOf = (socket: Socket) => string | undefined;

interface Client extends Pick<ApiRequest, 'isRoot'> {
  readonly peerOf?: PeerOf | undefined;
}

/** Answers a request by the route of its method and path. Never rejects. */
export async function answerBy(
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
  client: Client = {},
): Promise<void> {
  const answer = await answerOf(routes, request, () => response.destroyed, client).catch(failure);
  if (!('stream' in answer)) give(response, answer);
  else if (request.method === 'HEAD') respond(response, 200, '', 'text/event-stream');
  else if (!response.destroyed) answer.stream(response);
}

export function fail(response: ServerResponse, error: EvictdError, status: number): void {
  give(response, failure(error, status));
}

function give(response: ServerResponse, { status = 200, retryAfterSeconds: retry, json }: ApiAnswer): void {
  const headers = retry === undefined ? {} : { 'Retry-After': String(retry) };
  if (!response.destroyed) respond(response, status, jsonDocument(json), JSON_TYPE, headers);
}

async function answerOf(
  routes: readonly Route[],
  request: IncomingMessage,
  isGone: () => boolean,
  { peerOf, isRoot }: Client,
): Promise<ApiAnswer | ApiStream> {
  const [path = '/', ...query] = (request.url ?? '/').split('?');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const own = routes.filter((each) => each.path === path);
  const route = own.find((each) => each.method === method);
  const isPost = route?.method === 'POST';
  const by = isPost ? peerOf?.(request.socket) : undefined; // before the body: a client may close the connection behind it
  const body = isPost ? await bodyOf(request) : '';
  request.resume(); // ignores the body of another method
  if (route !== undefined) return route.answer({ query: new URLSearchParams(query.join('?')), body, by, isRoot, isGone });
  const known = own.length === 0 ? routes : own;
  const hint = `there is ${known.map((each) => `${each.method} ${each.path}`).join(', ')}`;
  return failure(
    new UsageError('EVICTD_API_ROUTE', `no such operation: ${request.method ?? ''} ${path}`, { hint }),
    own.length === 0 ? 404 : 405,
  );
}

function statusOf(error: unknown): number {
  if (error instanceof InputError) return error.isMissing ? 422 : 400;
  if (error instanceof UsageError) return 400;
  return error instanceof UnavailableError ? 503 : 500;
}

function failure(error: unknown, status = statusOf(error)): ApiAnswer {
  const { code, message, hint } =
    error instanceof EvictdError ? error : { code: 'EVICTD_INTERNAL', message: String(error), hint: undefined };
  return { status, json: { error: { code, message, ...(hint !== undefined && { hint }) } } };
}

/** @throws UsageError  it is too large */
function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= MAX_BODY_BYTES) parts.push(part);
      else reject(new UsageError('EVICTD_API_BODY', `the request is larger than ${String(MAX_BODY_BYTES)} bytes`));
    });
    request.on('end', () => {
      resolve(Buffer.concat(parts).toString('utf8'));
    });
    request.on('error', reject);
  });
}
