import { createServer, type Server } from 'node:net';
import * as bounded from './bounded-server.js';
import * as route from './route.js';
import type { Route } from './route.js';

/**
 * A server for the routes. Its HTTP part is loaded and made with the first connection: a socket that is not used costs
 * nothing.
 *
 * @param timeoutMs  as in boundedServer
 */
export function routesServer(routes: readonly Route[], timeoutMs: number, peerOf?: route.PeerOf): Server {
  let http: Server | undefined;
  return createServer((socket) => {
    http ??= bounded.boundedServer((request, response) => {
      void route.answerBy(routes, request, response, peerOf);
    }, timeoutMs);
    http.emit('connection', socket);
  });
}
