import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { requestOf } from './listener.js';

const MAX_HEADER_BYTES = 8_192;
/** Node looks for slow connections with a timer that also runs without connections. Here each connection has its own. */
const NEVER_MS = 2 ** 31 - 1;

export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * An HTTP server that answers one request a connection, and limits its size and time. `Listener` limits connections.
 *
 * @param timeoutMs  for a client to send its whole request; half of the time that a connection may be without a byte
 */
export function boundedServer(answer: AnswerRequest, timeoutMs: number): Server {
  /** Connections that sent no request yet, and the timer that ends them. */
  const unused = new Map<Socket, NodeJS.Timeout>();
  const server = createServer({ connectionsCheckingInterval: NEVER_MS, maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    // Pipelined requests would block the loop. The others end with the connection.
    const limit = unused.get(request.socket);
    if (limit === undefined) return;
    unused.delete(request.socket);
    requestOf.set(request.socket, request);
    request.once('end', () => {
      clearTimeout(limit);
    });
    response.shouldKeepAlive = false;
    answer(request, response);
  });
  server.on('connection', (socket: Socket) => {
    const limit = setTimeout(() => socket.destroy(), timeoutMs).unref();
    unused.set(socket, limit);
    socket.once('close', () => {
      unused.delete(socket);
      clearTimeout(limit);
    });
  });
  server.timeout = 2 * timeoutMs; // no byte in either direction
  return server;
}

/** Ends an answer. Node omits the body for HEAD. */
export function respond(
  response: ServerResponse,
  code: number,
  body: string | Buffer,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, {
    ...headers,
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
}
