import type { ServerResponse } from 'node:http';
import { jsonText } from '../core/name/json-text.js';
import { UnavailableError } from '../errors.js';

/** The maximum for root, and for all other users together, so that these do not keep root out. */
const MAX_CLIENTS = 8;
const PERIOD_MS = 2_000;
/** The time between two events, for each unit of time that making one takes. */
const PAUSE_FACTOR = 20;
/** A connection without traffic for so long is closed. It is longer than the time between two events. */
const SILENCE_MS = 60_000;
/** The time after which a client must connect again, with the token that is then in force. */
const LONGEST_MS = 300_000;

/**
 * Server-sent events: each client gets the same document, at once and then every 2 s. One document is made for all clients.
 * Without a client nothing is kept, and no timer runs.
 */
export class EventStream {
  /** Whether each is root. */
  readonly #clients = new Map<ServerResponse, boolean>();
  #timer: NodeJS.Timeout | undefined;

  /** @param document  makes the document. An error that it throws is sent to a new client, and disconnects the others. */
  constructor(
    private readonly name: string,
    private readonly document: () => unknown,
    private readonly periodMs = PERIOD_MS,
    private readonly longestMs = LONGEST_MS,
  ) {}

  /** How a new client is answered. @throws UnavailableError  there are too many */
  join(isRoot = false): (response: ServerResponse) => void {
    if ([...this.#clients.values()].filter((each) => each === isRoot).length >= MAX_CLIENTS) {
      throw new UnavailableError('EVICTD_API_CLIENTS', `${String(MAX_CLIENTS)} clients follow the events already`, {
        hint: 'ask for /api/v1/status instead, or close a status page',
      });
    }
    const event = this.#event();
    return (response) => {
      this.#clients.set(response, isRoot);
      const end = setTimeout(() => {
        this.#forget(response); // now: nothing may be written after the end
        response.end();
      }, this.longestMs).unref();
      response.once('close', () => {
        clearTimeout(end);
        this.#forget(response);
      });
      response.socket?.setTimeout(SILENCE_MS);
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
      response.write(event);
      if (this.#clients.size === 1) this.#wait(0);
    };
  }

  #event(): string {
    return `event: ${this.name}\ndata: ${jsonText(this.document())}\n\n`;
  }

  #wait(tookMs: number): void {
    this.#timer = setTimeout(() => this.#send(), Math.max(this.periodMs, tookMs * PAUSE_FACTOR)).unref();
  }

  #send(): void {
    // At most one event waits for a client: memory is bounded.
    for (const client of this.#clients.keys()) if (client.writableLength > 0) this.#drop(client);
    if (this.#clients.size === 0) return;
    const beganMs = performance.now();
    try {
      const event = this.#event();
      for (const client of this.#clients.keys()) client.write(event);
      this.#wait(performance.now() - beganMs);
    } catch {
      for (const client of this.#clients.keys()) this.#drop(client); // it connects again and is answered with the error
    }
  }

  #forget(client: ServerResponse): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) clearTimeout(this.#timer);
  }

  #drop(client: ServerResponse): void {
    this.#forget(client);
    client.destroy();
  }
}
