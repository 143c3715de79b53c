import type { ConnectionOptions } from 'node:tls';
import { EvictdError } from '../../../errors.js';

/** How the API server is reached now: files and programs have been read. */
export interface Access {
  /** https. Its path comes before that of each request. */
  readonly server: URL;
  readonly tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;
  /** The header; undefined: none, the client certificate identifies evictd. */
  readonly authorization: string | undefined;
  /** When it is read again, in ms since 1970: credentials are replaced in their files. */
  readonly untilMs: number;
}

export type ReadAccess = () => Promise<Access>;

/** Files are read again after this time (client-go reads a token again each minute). */
export const ACCESS_TTL_MS = 60_000;

/** Keeps what was read until `untilMs`, or until the server refuses it. */
export class CachedAccess {
  #access: Promise<Access> | undefined;
  #untilMs = Infinity;

  constructor(private readonly read: ReadAccess) {}

  get(): Promise<Access> {
    if (Date.now() >= this.#untilMs) this.refused();
    return (this.#access ??= this.read().then(
      (access) => {
        this.#untilMs = access.untilMs;
        return access;
      },
      (error: unknown) => {
        this.refused();
        throw error;
      },
    ));
  }

  /** The next `get` reads again. */
  refused(): void {
    this.#access = undefined;
    this.#untilMs = Infinity;
  }
}

export function unusable(message: string, hint: string, cause?: unknown): EvictdError {
  return new EvictdError('EVICTD_KUBERNETES_ACCESS', message, { hint, cause });
}
