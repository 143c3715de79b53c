import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as requestPlain, type ClientRequest } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { WebhookConfig } from '../../core/notify/notification.js';
import { journalLine, type JournalRecord } from '../../journal/records/record.js';
import type { Notifier, NotifierParts, OpenNotifier } from './notifier.js';
import { NS_PER_MS } from '../../core/quantity/duration.js';
import { messageOf } from '../../errors.js';

const MAX_QUEUED = 64;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const ATTEMPTS = 10;
/** Statuses of the server after which a retry may succeed. */
const PASSING = new Set([408, 425, 429]);

/** Where tests wait less. */
export interface WebhookPauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Sends records to an HTTP server, one after the other. */
export const openWebhook =
  (pauses: WebhookPauses = { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS }): OpenNotifier =>
  ({ webhook }, parts) =>
    webhook && new Webhook(webhook, parts, pauses);

interface Delivery {
  /** The id of the notification, the same at each attempt. */
  readonly id: string;
  readonly event: string;
  readonly body: string;
}

type Answer = { readonly ok: true } | { readonly ok: false; readonly error: string; readonly isFinal: boolean };

class Webhook implements Notifier {
  /** The first is being sent. */
  readonly #queue: Delivery[] = [];
  /** The request under way. */
  #request: ClientRequest | undefined;
  #closed = false;
  #attempts = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: WebhookConfig,
    private readonly parts: Pick<NotifierParts, 'node' | 'report' | 'reportFailure'>,
    private readonly pauses: WebhookPauses,
  ) {}

  recorded(record: JournalRecord): void {
    if (this.#queue.length >= MAX_QUEUED) {
      this.parts.report('dropped', `${String(MAX_QUEUED)} notifications wait for the server`);
      return;
    }
    const body = journalLine(record, { node: this.parts.node, dryRun: false });
    this.#queue.push({ id: randomUUID(), event: record.type, body });
    if (this.#queue.length === 1) void this.#send();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed = true;
    this.#request?.destroy();
    this.#queue.length = 0;
  }

  async #send(): Promise<void> {
    const [delivery] = this.#queue;
    if (delivery === undefined) return;
    const answer = await this.#attempt(delivery);
    if (this.#closed) return;
    this.#attempts += 1;
    if (answer.ok) this.#next('sent');
    else if (answer.isFinal || this.#attempts >= ATTEMPTS) this.#next('failed', answer.error);
    else this.#again(answer.error);
  }

  #next(result: 'sent' | 'failed', error?: string): void {
    this.parts.report(result, error);
    this.#attempts = 0;
    this.#queue.shift();
    void this.#send();
  }

  #again(error: string): void {
    this.parts.reportFailure(`${error}; evictd retries`);
    const { firstMs, longestMs } = this.pauses;
    this.#timer = setTimeout(
      () => {
        void this.#send();
      },
      Math.min(firstMs * 2 ** (this.#attempts - 1), longestMs),
    );
    this.#timer.unref();
  }

  async #attempt(delivery: Delivery): Promise<Answer> {
    try {
      const signature = await this.#signature(delivery.body);
      return this.#closed ? { ok: false, error: 'evictd ends', isFinal: true } : await this.#post(delivery, signature);
    } catch (error) {
      return { ok: false, error: messageOf(error), isFinal: false };
    }
  }

  /** Reads the key each time, so that it can be replaced. */
  async #signature(body: string): Promise<string | undefined> {
    const { secretFile } = this.config;
    if (secretFile === undefined) return undefined;
    const secret = (await readFile(secretFile)).toString('latin1').replace(/\r?\n$/, '');
    if (secret === '') throw new Error(`${secretFile} is empty`);
    return `sha256=${createHmac('sha256', Buffer.from(secret, 'latin1')).update(body).digest('hex')}`;
  }

  #post({ id, event, body }: Delivery, signature: string | undefined): Promise<Answer> {
    const url = new URL(this.config.url);
    const request = url.protocol === 'https:' ? requestSecure : requestPlain;
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'evictd',
      'x-evictd-event': event,
      'x-evictd-delivery': id,
      ...(signature !== undefined && { 'x-evictd-signature': signature }),
    };
    const signal = AbortSignal.timeout(Number(this.config.timeoutNs / NS_PER_MS));
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers, signal, agent: false }, (response) => {
        const { statusCode: status = 0 } = response;
        response.destroy();
        const isFinal = status < 500 && !PASSING.has(status);
        resolve(status >= 200 && status < 300 ? { ok: true } : { ok: false, error: `${url.host} answers ${String(status)}`, isFinal });
      });
      sent.on('error', (error) => {
        reject(signal.aborted ? new Error(`${url.host} does not answer`) : error);
      });
      sent.on('socket', (socket) => socket.unref());
      sent.end(body);
      this.#request = sent;
    });
  }
}
