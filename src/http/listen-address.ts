import { lstatSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { MAX_SOCKET_BYTES } from '../core/name/socket-path.js';
import { errnoName } from '../errors.js';

/** The address as configured: `ADDRESS:PORT` or `unix:PATH`. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly socket: string };

/** Locks a file; undefined: another process holds it. */
export type TryLock = (path: string) => { close(): void } | undefined;

export interface Endpoint {
  /** The text for the log. `port`: the port in use, if it is known. */
  text(port: number | undefined): string;
  /**
   * Lets a server listen, after what an ended process left at the address is removed. Throws if the address is in use. May be
   * called again.
   */
  open(server: Server): void;
  /** Called after the server is closed. May be called twice. */
  release(): void;
}

/** @param mode  of a Unix socket: connecting needs the permission to write */
export function endpointOf(address: ListenAddress, tryLock: TryLock, mode: number): Endpoint {
  return 'socket' in address ? new UnixEndpoint(address.socket, tryLock, mode) : tcpEndpoint(address.host, address.port);
}

/** All addresses of both families. */
const ALL = '::';

/** Without a host Node binds to ::, or to 0.0.0.0 where the kernel has no IPv6 (ipv6.disable=1: EAFNOSUPPORT). */
function tcpEndpoint(host: string, port: number): Endpoint {
  return {
    text: (used = port) => `${host.includes(':') ? `[${host}]` : host}:${String(used)}`,
    open: (server) => server.listen({ ...(host !== ALL && { host }), port }),
    release: () => undefined,
  };
}

/**
 * A killed process leaves its socket, and a zombie still listens on it, so that neither a bind nor a connection shows
 * whether it is in use. A lock beside it does: the kernel releases that of every ended process.
 */
class UnixEndpoint implements Endpoint {
  #lock: { close(): void } | undefined;
  #opened = false;

  constructor(
    private readonly path: string,
    private readonly tryLock: TryLock,
    private readonly mode: number,
  ) {}

  text(): string {
    return `unix:${this.path}`;
  }

  open(server: Server): void {
    const bytes = Buffer.byteLength(this.path);
    if (bytes > MAX_SOCKET_BYTES) throw new Error(`its path has ${String(bytes)} bytes, and the kernel takes ${String(MAX_SOCKET_BYTES)}`);
    this.#lock ??= this.tryLock(`${this.path}.held`);
    if (this.#lock === undefined) throw Object.assign(new Error('the address is in use'), { code: 'EADDRINUSE' });
    if (this.#isThere()) rmSync(this.path, { force: true });
    // It is made with its mode, before this returns: changed later, others could connect first, or put a link in its place.
    const umask = process.umask(0o777 & ~this.mode);
    try {
      this.#opened = true;
      server.listen({ path: this.path });
    } finally {
      process.umask(umask);
    }
  }

  release(): void {
    if (this.#lock === undefined) return;
    if (this.#opened) rmSync(this.path, { force: true });
    rmSync(`${this.path}.held`, { force: true });
    this.#lock.close();
    this.#lock = undefined;
  }

  /** Throws if another kind of file is there. */
  #isThere(): boolean {
    try {
      if (lstatSync(this.path).isSocket()) return true;
    } catch (error) {
      if (errnoName(error) === 'ENOENT') return false;
      throw error;
    }
    throw new Error(`${this.path} exists and is not a socket`);
  }
}
