import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import * as zlib from 'node:zlib';
import type { Log } from '../log/log.js';
import { acceptedFormat, CONTENT_TYPES, quality } from './exposition.js';
import { liveness, readiness, type Probe } from './health.js';
import { endpointOf, type Endpoint, type ListenAddress, type TryLock } from './listen-address.js';
import type { MetricsRegistry } from './registry.js';
import type { Status } from './status.js';

const RETRY_MS = 10_000;
const CLIENT_TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 32;
/** Node looks for slow connections with a timer that also runs without connections. Here each connection has its own. */
const NEVER_MS = 2 ** 31 - 1;
const TEXT = 'text/plain; charset=utf-8';
const INDEX = `evictd
/metrics  for Prometheus
/healthz  200 while evictd samples the node
/readyz   200 while evictd guards as configured, else 503 with the reasons
`;

export interface ServerOptions {
  readonly address: ListenAddress;
  readonly tryLock: TryLock;
  readonly status: Status;
  readonly registry: MetricsRegistry;
  readonly log: Log;
  /** Time between attempts to listen. Default: 10 s. */
  readonly retryMs?: number;
  /** Limit for a client to send its request. Default: 5 s. */
  readonly clientTimeoutMs?: number;
}

/**
 * Serves /metrics, /healthz and /readyz. It never affects eviction: it retries an address in use, closes a connection
 * after an error, and limits requests per connection, connections and times. A connection beyond the limit closes the
 * oldest one: clients that hold connections open do not keep a scrape out, which takes milliseconds.
 */
export class MetricsServer {
  readonly #options: ServerOptions;
  readonly #server: Server;
  readonly #endpoint: Endpoint;
  #retry: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  /** The oldest first. */
  readonly #connections = new Set<Socket>();
  /** Connections that sent no request yet, and the timer that ends them. */
  readonly #unused = new Map<Socket, NodeJS.Timeout>();
  #closed = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#endpoint = endpointOf(options.address, options.tryLock);
    const timeoutMs = options.clientTimeoutMs ?? CLIENT_TIMEOUT_MS;
    this.#server = createServer(
      {
        connectionsCheckingInterval: NEVER_MS,
        maxHeaderSize: 8_192,
      },
      this.#answer.bind(this),
    );
    this.#server.on('connection', (socket) => {
      this.#limit(socket, timeoutMs);
    });
    this.#server.timeout = 2 * timeoutMs; // no byte in either direction
    this.#server.on('error', (error: NodeJS.ErrnoException) => {
      this.#unavailable(error);
    });
    this.#server.on('listening', () => {
      this.#endpoint.opened();
      this.#options.log.info(`metrics are served on ${this.#endpoint.text(this.port)}`);
      this.#problem = undefined;
    });
  }

  /** Listens, and retries after an error, which is logged. */
  start(): void {
    if (this.#closed) return;
    try {
      this.#server.listen(this.#endpoint.claim());
    } catch (error) {
      this.#unavailable(error as NodeJS.ErrnoException);
    }
  }

  /** The port, also if port 0 is configured; undefined while not listening, and for a Unix socket. */
  get port(): number | undefined {
    const address = this.#server.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  /** Why the server is not listening; undefined while it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Closes all connections at once. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#endpoint.release();
  }

  #limit(socket: Socket, timeoutMs: number): void {
    const end = (): void => {
      socket.destroy();
    };
    this.#unused.set(socket, setTimeout(end, timeoutMs).unref());
    this.#connections.add(socket);
    const [oldest] = this.#connections;
    if (this.#connections.size > MAX_CONNECTIONS && oldest !== undefined) {
      this.#connections.delete(oldest); // now: the event comes later
      oldest.destroy();
    }
    socket.once('close', () => {
      this.#connections.delete(socket);
      clearTimeout(this.#unused.get(socket));
      this.#unused.delete(socket);
    });
  }

  #unavailable(error: NodeJS.ErrnoException): void {
    if (this.#closed) return;
    const retryMs = this.#options.retryMs ?? RETRY_MS;
    const reason = error.code === 'EADDRINUSE' ? 'the address is in use' : error.message;
    if (this.#problem !== reason) {
      this.#options.log.warn(
        `metrics cannot be served on ${this.#endpoint.text(this.port)}: ${reason}; trying again every ${String(retryMs / 1000)} s`,
        {
          code: 'EVICTD_METRICS_LISTEN',
          hint: 'set metrics.listen to another address',
        },
      );
    }
    this.#problem = reason;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.start();
    }, retryMs).unref();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { status, registry } = this.#options;
    // One request a connection: pipelined scrapes would block the loop. The others end with the connection.
    const limit = this.#unused.get(request.socket);
    if (limit === undefined) return;
    this.#unused.delete(request.socket);
    clearTimeout(limit);
    response.shouldKeepAlive = false;
    request.resume(); // ignores a body
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      respond(response, 405, 'only GET and HEAD\n');
      return;
    }
    switch ((request.url ?? '/').replace(/\?.*/s, '')) {
      case '/':
        respond(response, 200, INDEX);
        return;
      case '/healthz':
        respondProbe(response, liveness(status));
        return;
      case '/readyz':
        status.renew();
        respondProbe(response, readiness(status));
        return;
      case '/metrics':
        try {
          status.renew();
          respondMetrics(request, response, registry);
        } catch (error) {
          respond(response, 500, `${String(error)}\n`);
        }
        return;
      default:
        respond(response, 404, `not found\n\n${INDEX}`);
    }
  }
}

function respondProbe(response: ServerResponse, probe: Probe): void {
  respond(response, probe.ok ? 200 : 503, [probe.ok ? 'ok' : 'not ok', ...probe.lines, ''].join('\n'));
}

/** In the format that the client prefers. Compressed on this thread: another one may not be there when it is needed. */
function respondMetrics({ headers }: IncomingMessage, response: ServerResponse, registry: MetricsRegistry): void {
  const format = acceptedFormat(headers.accept);
  const text = registry.metrics(format);
  if (quality(headers['accept-encoding'], 'gzip') === 0) {
    respond(response, 200, text, CONTENT_TYPES[format]);
    return;
  }
  response.setHeader('Content-Encoding', 'gzip');
  respond(response, 200, zlib.gzipSync(text, { level: 1 }), CONTENT_TYPES[format]);
}

function respond(response: ServerResponse, code: number, body: string | Buffer, type = TEXT): void {
  response.writeHead(code, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body); // Node omits the body for HEAD
}
