import type { Server, Socket } from 'node:net';
import type { Log } from '../log/log.js';
import { endpointOf, type Endpoint, type ListenAddress, type TryLock } from './listen-address.js';

/** Limit for a client to send its request. */
export const CLIENT_TIMEOUT_MS = 5_000;
const RETRY_MS = 10_000;
const MAX_CONNECTIONS = 32;
export const ROOT = 0;

/** The request of a connection, once its header has come. */
export const requestOf = new WeakMap<Socket, { readonly complete: boolean }>();

/** The uid of the process that has connected to a Unix socket; undefined: not known. */
export type UserOf = (socket: Socket) => number | undefined;

export interface ListenerOptions {
  readonly address: ListenAddress;
  readonly tryLock: TryLock;
  /** The mode of a Unix socket. */
  readonly mode: number;
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>;
  /** What is served, in the plural, for the log. */
  readonly what: string;
  /** The log level of the line that it is served. */
  readonly level: 'debug' | 'info';
  /** The code of the warning that the address cannot be served. */
  readonly code: string;
  readonly hint: string;
  /** Left out: all connections are those of one user. */
  readonly userOf?: UserOf | undefined;
  /** Time between attempts to listen. Left out: 10 s. */
  readonly retryMs?: number | undefined;
}

/**
 * Lets a server listen at an address. It never affects eviction: it retries an address in use and limits connections. A
 * connection beyond the limit closes one of the user with the most connections, and one of root only where all are
 * root's: the oldest that has not sent its request, else the oldest. Clients that hold connections open do not keep others
 * out, whose requests take milliseconds, and do not end an answer in progress.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #endpoint: Endpoint;
  #retry: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  /** The user of each, the oldest first. */
  readonly #connections = new Map<Socket, number | undefined>();
  #closed = false;

  constructor(server: Server, options: ListenerOptions) {
    const { address, tryLock, mode, what, level, log } = options;
    this.#options = options;
    this.#server = server;
    this.#endpoint = endpointOf(address, tryLock, mode);
    server.on('connection', (socket) => {
      this.#limit(socket);
    });
    server.on('error', (error: NodeJS.ErrnoException) => {
      this.#unavailable(error);
    });
    server.on('listening', () => {
      log[level](`${what} are served on ${this.#endpoint.text(this.port)}`);
      this.#problem = undefined;
    });
  }

  /** Listens, and retries after an error, which is logged. */
  start(): void {
    if (this.#closed) return;
    try {
      this.#endpoint.open(this.#server);
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
    for (const socket of this.#connections.keys()) socket.destroy();
    this.#endpoint.release();
  }

  #limit(socket: Socket): void {
    this.#connections.set(socket, this.#options.userOf?.(socket));
    socket.once('close', () => this.#connections.delete(socket));
    const excess = this.#connections.size > MAX_CONNECTIONS ? this.#mostDispensable() : undefined;
    if (excess === undefined) return;
    this.#connections.delete(excess); // now: the event comes later
    excess.destroy();
  }

  #mostDispensable(): Socket | undefined {
    const all = [...this.#connections];
    const others = all.filter(([, user]) => user !== ROOT);
    const among = others.length > 0 ? others : all;
    const countOf = (user: number | undefined): number => among.filter(([, other]) => other === user).length;
    const most = Math.max(...among.map(([, user]) => countOf(user)));
    const sockets = among.flatMap(([socket, user]) => (countOf(user) === most ? [socket] : []));
    const newest = all.at(-1)?.[0];
    return sockets.find((socket) => socket !== newest && requestOf.get(socket)?.complete !== true) ?? sockets[0];
  }

  #unavailable(error: NodeJS.ErrnoException): void {
    if (this.#closed) return;
    const { retryMs = RETRY_MS, log, what, code, hint } = this.#options;
    const reason = error.code === 'EADDRINUSE' ? 'the address is in use' : error.message;
    if (this.#problem !== reason) {
      log.warn(`${what} cannot be served on ${this.#endpoint.text(this.port)}: ${reason}; trying again every ${String(retryMs / 1000)} s`, {
        code,
        hint,
      });
    }
    this.#problem = reason;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.start();
    }, retryMs).unref();
  }
}
