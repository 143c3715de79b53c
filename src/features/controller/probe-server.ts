import type { ListenAddress } from '../../http/listen-address.js';
import { boundedServer, respond } from '../../http/bounded-server.js';
import { CLIENT_TIMEOUT_MS, Listener } from '../../http/listener.js';
import type { Log } from '../../log/log.js';

const TEXT = 'text/plain; charset=utf-8';

export interface ProbeParts {
  readonly address: ListenAddress;
  readonly log: Log;
  /** What is wrong; empty: nothing. */
  readonly liveness: () => readonly string[];
  readonly readiness: () => readonly string[];
  readonly metrics: () => Promise<string>;
  readonly contentType: string;
}

/** Serves /metrics, /healthz and /readyz. */
export function probeServer({ address, log, liveness, readiness, metrics, contentType }: ProbeParts): Listener {
  const server = boundedServer((request, response) => {
    request.resume();
    const probe = (problems: readonly string[]): void => {
      respond(response, problems.length === 0 ? 200 : 503, [problems.length === 0 ? 'ok' : 'not ok', ...problems, ''].join('\n'), TEXT);
    };
    const path = (request.url ?? '/').replace(/\?.*/s, '');
    if (request.method !== 'GET' && request.method !== 'HEAD') respond(response, 405, 'only GET and HEAD\n', TEXT, { Allow: 'GET, HEAD' });
    else if (path === '/healthz') probe(liveness());
    else if (path === '/readyz') probe(readiness());
    else if (path === '/metrics') {
      metrics().then(
        (text) => {
          respond(response, 200, text, contentType);
        },
        (error: unknown) => {
          respond(response, 500, `${String(error)}\n`, TEXT);
        },
      );
    } else respond(response, 404, 'not found: /metrics, /healthz, /readyz\n', TEXT);
  }, CLIENT_TIMEOUT_MS);
  const hint = 'set --listen to another address';
  const noLock = (): undefined => undefined; // of a socket file, which this server does not serve
  return new Listener(server, {
    ...{ address, tryLock: noLock, mode: 0o660, log, what: 'metrics', level: 'info', code: 'EVICTD_METRICS_LISTEN', hint },
  });
}
