import { MAX_WAIT_MS } from '../../core/kubernetes/back-off.js';
import {
  FIRST_WATCH,
  nextWatch,
  WATCH_OVERDUE_MS,
  watchSeconds,
  type WatchOutcome,
  type WatchState,
} from '../../core/kubernetes/watch-state.js';
import { documentOf, integerOf, items, member, textOf } from '../../kubernetes/document.js';
import type { Json } from '../../kubernetes/json.js';
import type { ApiAnswer, ApiClient } from './client/api-client.js';

/** The timeout of one page. */
const LIST_WITHIN_MS = 30_000;
/** The timeout until a watch is accepted. */
const OPEN_WITHIN_MS = 10_000;
/** A watch that is cut after this time has not failed: kubeadm's example of a load balancer cuts what is idle for 35 s. */
const LASTED_MS = 10_000;

/** The objects that are followed: '/api/v1/pods'. */
export interface Followed<T> {
  readonly path: string;
  /** 'spec.nodeName=a'. Left out: all. */
  readonly fieldSelector?: string;
  /**
   * Lists are read in pages of so many objects, and are the newest: an API server pages only those. Left out: in one answer, the first
   * from the server's cache.
   */
  readonly pageSize?: number;
  /** What is kept of an object. What it throws ends the list or the watch, and is reported as its failure. */
  readonly read: (object: Json) => T;
}

/** What a watch reports. */
export interface ObjectsSeen<T> {
  listed(objects: readonly T[]): void;
  changed(object: T): void;
  removed(object: T): void;
  /** The server has answered: what is known is up to date. */
  confirmed(): void;
  /** `why`: of the last attempt. */
  failed(why: unknown): void;
}

/** Follows objects of the API server, until it is closed. */
export class ListWatch<T> {
  readonly #selector: Readonly<Record<string, string>>;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #state: WatchState = FIRST_WATCH;
  /** Lists so far. */
  lists = 0;

  constructor(
    private readonly client: Pick<ApiClient, 'ask' | 'watch'>,
    private readonly followed: Followed<T>,
    private readonly seen: ObjectsSeen<T>,
    private readonly mostWaitMs = MAX_WAIT_MS,
  ) {
    this.#selector = followed.fieldSelector === undefined ? {} : { fieldSelector: followed.fieldSelector };
    void this.#step();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #step(): Promise<void> {
    const { kind, resourceVersion } = this.#state.next;
    const outcome = await (kind === 'list' ? this.#list(resourceVersion) : this.#watch(resourceVersion));
    if (this.#closed) return;
    this.#state = nextWatch(this.#state, outcome, Math.random(), this.mostWaitMs);
    this.#timer = setTimeout(() => void this.#step(), this.#state.waitMs).unref();
  }

  async #list(resourceVersion: string): Promise<WatchOutcome> {
    const { path, pageSize, read } = this.followed;
    const of = pageSize === undefined ? { ...(resourceVersion !== '' && { resourceVersion }) } : { limit: String(pageSize) };
    try {
      const objects: T[] = [];
      let more: Readonly<Record<string, string>> = {};
      for (;;) {
        const query = { ...this.#selector, ...of, ...more };
        const answer = await this.client.ask({ method: 'GET', path, query, withinMs: LIST_WITHIN_MS });
        if (answer.status !== 200) return this.#refused(answer);
        const list = documentOf(answer.body);
        const metadata = member(list, 'metadata');
        const token = textOf(member(metadata, 'continue'));
        for (const { value } of items(member(list, 'items'))) objects.push(read(value as Json));
        if (token !== '') {
          more = { continue: token };
          continue;
        }
        this.lists += 1;
        if (!this.#closed) this.seen.listed(objects);
        return { kind: 'listed', resourceVersion: textOf(member(metadata, 'resourceVersion')) };
      }
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #watch(from: string): Promise<WatchOutcome> {
    const beganMs = performance.now();
    const seconds = watchSeconds(Math.random());
    let resourceVersion = from;
    let refusal: ApiAnswer | undefined;
    const onEvent = (event: Json): void => {
      const seen = this.#event(event);
      if (typeof seen === 'string') resourceVersion = seen;
      else refusal = seen;
    };
    const query = {
      ...{ ...this.#selector, resourceVersion, allowWatchBookmarks: 'true', timeoutSeconds: String(seconds) },
    };
    try {
      const onOpen = (): void => {
        if (!this.#closed) this.seen.confirmed();
      };
      const overdueMs = seconds * 1_000 + WATCH_OVERDUE_MS;
      const { path } = this.followed;
      const answer = await this.client.watch({ path, query, withinMs: OPEN_WITHIN_MS, overdueMs, onOpen, onEvent });
      if (answer.status !== 200 || refusal !== undefined) return this.#refused(refusal ?? answer);
      return { kind: 'ended', resourceVersion, lastedMs: performance.now() - beganMs };
    } catch (error) {
      if (isCut(error) && performance.now() - beganMs >= LASTED_MS) return { kind: 'cut', resourceVersion };
      const failed = this.#failed(error);
      return failed.kind === 'failed' ? { ...failed, resourceVersion } : failed;
    }
  }

  /** Returns the version of the event, or the status that the server sends in place of one. */
  #event(event: Json): string | ApiAnswer {
    const type = textOf(member(documentOf(event), 'type'));
    const object = member(documentOf(event), 'object');
    const value = object.value as Json;
    if (type === 'ERROR') return { status: Number(integerOf(member(object, 'code'), 'int32') ?? 0n), body: value };
    const version = textOf(member(member(object, 'metadata'), 'resourceVersion'));
    if (this.#closed) return version;
    if (type === 'ADDED' || type === 'MODIFIED') this.seen.changed(this.followed.read(value));
    else if (type === 'DELETED') this.seen.removed(this.followed.read(value));
    this.seen.confirmed();
    return version;
  }

  #refused(answer: ApiAnswer): WatchOutcome {
    if (answer.status === 410) return { kind: 'expired' };
    const { status, retryAfterSeconds } = answer;
    this.#failed(new Error(`it answers ${String(status)}: ${messageOf(answer)}`));
    return { kind: 'failed', ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }

  #failed(why: unknown): WatchOutcome {
    if (!this.#closed) this.seen.failed(why);
    return { kind: 'failed' };
  }
}

function isCut(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET';
}

/** The message of a Status. */
function messageOf({ body }: ApiAnswer): string {
  if (typeof body === 'string') return body.slice(0, 200);
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined;
  return typeof message === 'string' ? message : 'no reason';
}
