import * as zlib from 'node:zlib';
import { ResponseThrottle } from '../http/response-throttle.js';
import type { Format } from './accepted-format.js';
import type { MetricsRegistry } from './registry.js';
import type { Status } from './status.js';

/**
 * The bodies of /metrics, rendered one at a time and with pauses, so that a client that scrapes in a loop keeps evictd from
 * nothing. Scrapes that wait share one body, which is rendered after they have come: no value is older than its request.
 */
export class Scrapes {
  readonly #throttle = new ResponseThrottle();
  /** Those that are not begun, by format and encoding. */
  readonly #waiting = new Map<string, Promise<Buffer>>();

  constructor(
    private readonly status: Pick<Status, 'renew'>,
    private readonly registry: Pick<MetricsRegistry, 'metrics'>,
  ) {}

  /** Rejects if a value cannot be read. */
  body(format: Format, isCompressed: boolean): Promise<Buffer> {
    const kind = `${format} ${String(isCompressed)}`;
    const waiting = this.#waiting.get(kind);
    if (waiting !== undefined) return waiting;
    const body = this.#throttle.run(
      () => false,
      () => {
        this.#waiting.delete(kind);
        return this.#render(format, isCompressed);
      },
    );
    this.#waiting.set(kind, body);
    return body;
  }

  /** Compresses on this thread: in a shortage another thread may not start. */
  async #render(format: Format, isCompressed: boolean): Promise<Buffer> {
    this.status.renew();
    const text = await this.registry.metrics(format);
    return isCompressed ? zlib.gzipSync(text, { level: 1 }) : Buffer.from(text);
  }
}
