import type { IncomingMessage, ServerResponse } from 'node:http';
import { boundedServer, respond } from '../http/bounded-server.js';
import type { ListenAddress, TryLock } from '../http/listen-address.js';
import { CLIENT_TIMEOUT_MS, Listener, type UserOf } from '../http/listener.js';
import type { Route } from '../http/route.js';
import * as deferred from '../http/status-site.js';
import type { StatusSite } from '../http/status-site.js';
import type { Log } from '../log/log.js';
import { acceptedFormat, quality } from './accepted-format.js';
import { liveness, readiness, type Probe } from './health.js';
import type { MetricsRegistry } from './registry.js';
import { Scrapes } from './scrapes.js';
import type { Status } from './status.js';

const TEXT = 'text/plain; charset=utf-8';
const INDEX = `evictd
/         the status page, for a browser
/metrics  for Prometheus
/healthz  200 while evictd samples the node
/readyz   200 while evictd guards as configured, else 503 with the reasons
/api/v1/status, /api/v1/ranking, /api/v1/decisions, /api/v1/explain, /api/v1/drain,
/api/v1/events  JSON
`;

export interface ServerOptions {
  readonly address: ListenAddress;
  readonly tryLock: TryLock;
  readonly status: Status;
  readonly registry: MetricsRegistry;
  /** Routes of the API. The server has those for `everywhere`. */
  readonly routes: readonly Route[];
  readonly log: Log;
  readonly pageFile?: string;
  /** As in ListenerOptions. */
  readonly userOf?: UserOf;
  /** As in StatusSiteOptions. */
  readonly tokenFile: () => string | undefined;
  /** Time between attempts to listen. Default: 10 s. */
  readonly retryMs?: number;
  /** Limit for a client to send its request. Default: 5 s. */
  readonly clientTimeoutMs?: number;
}

/** Connecting needs the permission to write: root, and the group of a directory with the setgid bit. */
const SOCKET_MODE = 0o660;

interface Parts extends Pick<ServerOptions, 'status' | 'registry'> {
  readonly scrapes: Scrapes;
  /** Made with the first request for the page or the API: without one it costs nothing. */
  readonly statusSite: () => StatusSite;
}

/** Serves /metrics, /healthz, /readyz, the status page and the API. */
export function metricsServer({
  clientTimeoutMs = CLIENT_TIMEOUT_MS,
  status,
  registry,
  routes,
  pageFile,
  tokenFile,
  ...options
}: ServerOptions): Listener {
  let site: StatusSite | undefined;
  const statusSite = (): StatusSite => (site ??= new deferred.StatusSite({ address: options.address, routes, pageFile, tokenFile }));
  const scrapes = new Scrapes(status, registry);
  const server = boundedServer((request, response) => {
    answer({ status, registry, scrapes, statusSite }, request, response);
  }, clientTimeoutMs);
  return new Listener(server, {
    ...options,
    mode: SOCKET_MODE,
    what: 'metrics',
    level: 'info',
    code: 'EVICTD_METRICS_LISTEN',
    hint: 'set metrics.listen to another address',
  });
}

function answer({ status, registry, scrapes, statusSite }: Parts, request: IncomingMessage, response: ServerResponse): void {
  request.resume(); // ignores a body
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    respond(response, 405, 'only GET and HEAD\n', TEXT);
    return;
  }
  const path = (request.url ?? '/').replace(/\?.*/s, '');
  if (path.startsWith('/api/')) {
    void statusSite().answer(request, response);
    return;
  }
  switch (path) {
    case '/':
      if (quality(request.headers.accept, 'text/html') > 0) void statusSite().page(request, response);
      else respond(response, 200, INDEX, TEXT);
      return;
    case '/healthz':
      respondProbe(response, liveness(status));
      return;
    case '/readyz':
      status.renew();
      respondProbe(response, readiness(status));
      return;
    case '/metrics':
      respondMetrics(request, response, registry, scrapes).catch((error: unknown) => {
        respond(response, 500, `${String(error)}\n`, TEXT);
      });
      return;
    default:
      respond(response, 404, `not found\n\n${INDEX}`, TEXT);
  }
}

function respondProbe(response: ServerResponse, probe: Probe): void {
  respond(response, probe.ok ? 200 : 503, [probe.ok ? 'ok' : 'not ok', ...probe.lines, ''].join('\n'), TEXT);
}

/** Responds in the format that the client prefers. */
async function respondMetrics(
  { headers }: IncomingMessage,
  response: ServerResponse,
  registry: MetricsRegistry,
  scrapes: Scrapes,
): Promise<void> {
  const format = acceptedFormat(headers.accept);
  const isCompressed = quality(headers['accept-encoding'], 'gzip') > 0;
  const body = await scrapes.body(format, isCompressed);
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  respond(response, 200, body, registry.contentType(format));
}
