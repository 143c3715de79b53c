import { createServer, type Server } from 'node:net';
import * as bounded from './bounded-server.js';
import { ROOT, type UserOf } from './listener.js';
import * as throttle from './response-throttle.js';
import * as route from './route.js';

/**
 * A server for the routes, with a throttle for users other than root. Its HTTP part is loaded and made with the first
 * connection: a socket that is not used costs nothing.
 *
 * @param timeoutMs  as in boundedServer
 * @param userOf  left out: all are root
 */
export function routesServer(
  routes: readonly route.Route[],
  timeoutMs: number,
  { peerOf, userOf = () => ROOT }: { readonly peerOf?: route.PeerOf; readonly userOf?: UserOf } = {},
): Server {
  let http: Server | undefined;
  const make = (): Server => {
    const throttled = throttle.throttled(routes);
    return bounded.boundedServer((request, response) => {
      const isRoot = userOf(request.socket) === ROOT;
      void route.answerBy(isRoot ? routes : throttled, request, response, { peerOf, isRoot });
    }, timeoutMs);
  };
  return createServer((socket) => {
    http ??= make();
    http.emit('connection', socket);
  });
}
