import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { isOfEvents } from '../../../core/kubernetes/event-series.js';
import { EvictdError } from '../../../errors.js';
import { formatJson, parseJson, type Json } from '../../../kubernetes/json.js';
import { aborted } from './aborted.js';
import { CachedAccess, type Access, type ReadAccess } from './access.js';
import { RateLimit, type Rate } from './rate-limit.js';
import { NO_ANSWER, RequestLimit } from './request-limit.js';

/** Paths, with their query: '/api/v1/pods', {fieldSelector: 'spec.nodeName=a'}. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Left out: application/json. */
  readonly contentType?: string;
  /** The timeout for the whole answer. The wait for the client's own limit counts, unless `queuedMs` is given. */
  readonly withinMs: number;
  /** The timeout for that wait. Left out: the wait is a part of `withinMs`. */
  readonly queuedMs?: number;
  /** The tokens that the request takes from that limit. Left out: 1. 2: also for the next request, which then takes 0. */
  readonly tokens?: number;
  /** Called after the wait for that limit. What it throws is the outcome, and nothing is sent. */
  readonly beforeSend?: () => void;
}

export interface ApiAnswer {
  readonly status: number;
  readonly retryAfterSeconds?: number;
  /** Text where it is not JSON; undefined: empty. */
  readonly body: Json | undefined;
}

export interface WatchRequest extends Pick<ApiRequest, 'path' | 'query' | 'withinMs'> {
  /** When the watch is stale: the server should have ended it. */
  readonly overdueMs: number;
  /** The server has accepted the watch. */
  readonly onOpen: () => void;
  readonly onEvent: (event: Json) => void;
}

/** The size limit of one answer, and of one event. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;
/** The connections, one of which is for the watch. */
const CONNECTIONS = 6;

/** A client of one API server. Its requests are limited: see {@link RateLimit}. */
export class ApiClient {
  readonly #access: CachedAccess;
  readonly #limit: RateLimit;
  readonly #open = new Set<RequestLimit>();
  #isClosed = false;
  readonly #count: (method: string, code: string) => void;
  #agent: { readonly tls: Access['tls']; readonly agent: Agent } | undefined;
  #server: string | undefined;

  /**
   * @param count  called for each answer, code 'none' where there is none
   * @param rate  left out: that of a node
   */
  constructor(read: ReadAccess, count: (method: string, code: string) => void = () => undefined, rate?: Rate) {
    this.#access = new CachedAccess(read);
    this.#count = count;
    this.#limit = new RateLimit(undefined, rate);
  }

  /** undefined: not known yet. */
  get server(): string | undefined {
    return this.#server;
  }

  /**
   * Resolves with any answer of the server.
   *
   * @throws EvictdError  EVICTD_KUBERNETES_UNREACHABLE: no answer in time; EVICTD_KUBERNETES_ACCESS: no credential
   */
  async ask(asked: ApiRequest): Promise<ApiAnswer> {
    const { withinMs, queuedMs, tokens } = asked;
    return this.#answered(asked.method, queuedMs ?? withinMs, async (limit) => {
      if (tokens !== 0) await this.#limit.take(urgencyOf(asked), limit.signal, tokens);
      if (queuedMs !== undefined) limit.within(withinMs);
      const response = await this.#send(asked, limit.signal);
      const text = await textOf(response);
      return { ...headOf(response), body: bodyOf(text) };
    });
  }

  /**
   * Resolves when the server has ended the watch, or with its answer where it refuses it.
   *
   * @throws EvictdError  as `ask`, also for a watch that is cut off or overdue
   */
  async watch({ path, query, withinMs, overdueMs, onOpen, onEvent }: WatchRequest): Promise<ApiAnswer> {
    return this.#answered('WATCH', withinMs, async (limit) => {
      await this.#limit.take(0, limit.signal);
      const response = await this.#send({ method: 'GET', path, query: { ...query, watch: 'true' }, withinMs }, limit.signal);
      limit.within(overdueMs, 'the watch is stale: the server has not ended it in time');
      if (response.statusCode !== 200) return { ...headOf(response), body: bodyOf(await textOf(response)) };
      onOpen();
      for await (const line of linesOf(response)) onEvent(parseJson(line));
      return { status: 200, body: undefined };
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const limit of this.#open) limit.abort(STOPS);
    this.#agent?.agent.destroy();
  }

  async #answered(method: string, ms: number, send: (limit: RequestLimit) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const limit = new RequestLimit(this.#open, ms);
    if (this.#isClosed) limit.abort(STOPS);
    try {
      const answer = await send(limit);
      this.#count(method, String(answer.status));
      if (answer.status === 401) this.#access.refused();
      return answer;
    } catch (error) {
      this.#count(method, 'none');
      if (error instanceof EvictdError) throw error;
      if (isOfTls(error)) this.#access.refused();
      const cause: unknown = limit.signal.aborted ? limit.signal.reason : error;
      throw new EvictdError('EVICTD_KUBERNETES_UNREACHABLE', reasonOf(cause), { cause });
    } finally {
      limit.over();
    }
  }

  async #send(asked: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path, query, body, contentType = 'application/json' } = asked;
    const { server, tls, authorization } = await aborted(this.#access.get(), signal);
    asked.beforeSend?.();
    this.#server = server.origin;
    const url = new URL(server);
    url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
    url.search = new URLSearchParams(query).toString();
    const content = body === undefined ? undefined : Buffer.from(formatJson(body));
    const headers = {
      accept: 'application/json',
      'user-agent': 'evictd',
      ...(authorization !== undefined && { authorization }),
      // Also for DELETE: without it Node sends the body without a length, and the server answers 400.
      ...(content && { 'content-type': contentType, 'content-length': content.length }),
    };
    const send = (agent: Agent): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const sent = request(url, { method, headers, signal, agent }, resolve);
        sent.on('error', (error: NodeJS.ErrnoException) => {
          const isStale = sent.reusedSocket && agent.options.keepAlive === true && CLOSED.has(error.code);
          // Repeated at most once, on a new connection: no call of evictd has another effect the second time.
          if (isStale) send(new Agent({ ...agent.options, keepAlive: false })).then(resolve, reject);
          else reject(error);
        });
        sent.end(content);
      });
    return send(this.#agentFor(tls));
  }

  #agentFor(tls: Access['tls']): Agent {
    if (this.#agent === undefined || !isDeepStrictEqual(tls, this.#agent.tls)) {
      this.#agent?.agent.destroy();
      const options = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxSockets: CONNECTIONS, minVersion: 'TLSv1.2', ...tls } as const;
      this.#agent = { tls, agent: new Agent(options) };
    }
    return this.#agent.agent;
  }
}

/** A connection that was kept, and that the server has closed when the request arrives there. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

const STOPS = 'evictd stops';

/** The server refuses the client certificate, or evictd the server's: one may have been replaced. */
function isOfTls(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /SSL|CERT|SIGNATURE|ISSUER/.test(String(error.code));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return NO_ANSWER;
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return first instanceof Error ? first.message : error.message;
}

/** What keeps pods gone comes first; events are last. */
function urgencyOf({ method, path }: ApiRequest): number {
  if (isOfEvents(path)) return 2;
  return method !== 'GET' && path.includes('/pods/') ? 0 : 1;
}

function headOf({ statusCode = 0, headers }: IncomingMessage): Omit<ApiAnswer, 'body'> {
  const seconds = Number(headers['retry-after']);
  return { status: statusCode, ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }) };
}

function bodyOf(text: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return parseJson(text);
  } catch {
    return text; // of a proxy in between
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const part of response as AsyncIterable<string>) {
    text += part;
    if (text.length > MAX_CHARACTERS) throw new Error('the answer is too long');
  }
  return text;
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding('utf8');
  let rest = '';
  for await (const part of response as AsyncIterable<string>) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_CHARACTERS) throw new Error('an event is too long');
    yield* lines.filter((line) => line !== '');
  }
}
