import { claim, released, seeLease, type ElectionTimings, type LeaseSpec, type SeenLease } from '../../core/cluster/leader-election.js';
import { answerText } from '../../core/kubernetes/eviction-answer.js';
import { leaseOf } from '../../kubernetes/cluster-document.js';
import type { Log } from '../../log/log.js';
import type { ApiAnswer, ApiClient } from '../kubernetes/client/api-client.js';
import { NS_PER_MS } from '../../core/quantity/duration.js';
import { messageOf } from '../../errors.js';

export interface ElectionParts {
  /** It sends nothing else, so that no other request delays a renewal. */
  readonly client: Pick<ApiClient, 'ask'>;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly timings: ElectionTimings;
  /** CLOCK_BOOTTIME: after a suspension of the machine the lease is over. */
  readonly nowNs: () => bigint;
  /** The annotations of the Lease while this process leads. */
  readonly annotations: () => Readonly<Record<string, string>>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly onLead: () => void;
  readonly onLoss: () => void;
}

/** Takes the lease and renews it, until it is closed. */
export class Election {
  readonly #parts: ElectionParts;
  /** The Lease as the server had it last. undefined: there is none. */
  #lease: { readonly object: object; readonly seen: SeenLease } | undefined;
  /** Whether this process has written `#lease` last, and need not read it again. */
  #isOwn = false;
  /** The lead ends then without a renewal. undefined: another process leads. */
  #untilNs: bigint | undefined;
  #timer: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #attempt: Promise<void>;
  #closed = false;
  #failure: string | undefined;
  #attemptedNs: bigint;
  #hasAnswer = false;

  constructor(parts: ElectionParts) {
    this.#parts = parts;
    this.#attemptedNs = parts.nowNs();
    this.#attempt = this.#try();
  }

  /** How long this process may still act as the leader, in ms; 0: it does not lead. */
  remainingMs(): number {
    if (this.#untilNs === undefined) return 0;
    const leftNs = this.#untilNs - this.#parts.nowNs();
    return leftNs <= 0n ? 0 : Number(leftNs / NS_PER_MS);
  }

  /** '' while no lease is known. */
  get holder(): string {
    return this.#lease?.seen.spec.holderIdentity ?? '';
  }

  /** Why the last attempt has failed; undefined: the server has answered it. */
  get problem(): string | undefined {
    return this.#failure ?? (this.#hasAnswer ? undefined : 'the Lease has not been read yet');
  }

  /** The time since the end of the last attempt, in ns. */
  sinceAttemptNs(): bigint {
    return this.#parts.nowNs() - this.#attemptedNs;
  }

  /** Gives the lease up, so that another process leads at once. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#attempt;
    clearTimeout(this.#timer);
    clearTimeout(this.#expiry);
    const leads = this.remainingMs() > 0;
    this.#lost();
    if (leads && this.#lease !== undefined) await this.#write(released(this.#lease.seen.spec, microTime())).catch(() => undefined);
  }

  async #try(): Promise<void> {
    const { timings, nowNs } = this.#parts;
    try {
      await this.#renew();
      if (this.#failure !== undefined) this.#parts.log.info('the Lease of the controller can be read again');
      this.#failure = undefined;
      this.#hasAnswer = true;
    } catch (error) {
      const why = messageOf(error);
      if (this.#failure === undefined)
        this.#parts.log.warn(`the Lease of the controller cannot be taken or renewed: ${why}`, { code: 'EVICTD_CONTROLLER_LEASE' });
      this.#failure = why;
    }
    this.#attemptedNs = nowNs();
    if (this.#closed) return;
    const retryMs = Number(timings.retryNs / NS_PER_MS);
    // A process that waits for the lead waits a bit longer, and not as long as others (client-go: JitterFactor).
    const waitMs = this.#untilNs === undefined ? retryMs * (1 + Math.random() * 0.2) : retryMs;
    this.#timer = setTimeout(() => {
      this.#attempt = this.#try();
    }, waitMs);
  }

  async #renew(): Promise<void> {
    const { identity, timings, nowNs } = this.#parts;
    if (!this.#isOwn) await this.#read();
    if (this.holder !== identity) this.#lost();
    const sentNs = nowNs();
    const spec = claim(this.#lease?.seen, identity, timings, sentNs, microTime());
    if (spec === undefined) return;
    this.#isOwn = false; // until the server has said so
    const answer = await this.#write(spec);
    if (answer.status === 409) return; // another process was faster
    if (answer.status !== 200 && answer.status !== 201) throw new Error(`the API server ${answerText(answer)}`);
    this.#keep(answer.body);
    this.#isOwn = true;
    this.#lead(sentNs + timings.renewDeadlineNs);
  }

  async #read(): Promise<void> {
    const answer = await this.#ask('GET', this.#path);
    if (answer.status === 200) this.#keep(answer.body);
    else if (answer.status === 404) this.#lease = undefined;
    else throw new Error(`the API server ${answerText(answer)}`);
  }

  #keep(body: unknown): void {
    this.#lease = { object: body as object, seen: seeLease(this.#lease?.seen, leaseOf(body).spec, this.#parts.nowNs()) };
  }

  /** Writes with the resource version that was read: the server refuses it if another process has written since. */
  #write(spec: LeaseSpec): Promise<ApiAnswer> {
    const { namespace, name, annotations } = this.#parts;
    const before = (this.#lease?.object ?? {}) as { readonly metadata?: { readonly annotations?: object }; readonly spec?: object };
    const body = {
      ...before,
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: { ...before.metadata, name, namespace, annotations: { ...before.metadata?.annotations, ...annotations() } },
      spec: { ...before.spec, ...spec },
    };
    return this.#lease === undefined ? this.#ask('POST', this.#collection, body) : this.#ask('PUT', this.#path, body);
  }

  #ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<ApiAnswer> {
    const withinMs = Number(this.#parts.timings.renewDeadlineNs / NS_PER_MS / 2n);
    return this.#parts.client.ask({ method, path, withinMs, ...(body && { body }) });
  }

  get #collection(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(this.#parts.namespace)}/leases`;
  }

  get #path(): string {
    return `${this.#collection}/${encodeURIComponent(this.#parts.name)}`;
  }

  #lead(untilNs: bigint): void {
    if (untilNs <= this.#parts.nowNs()) return; // the answer came too late
    const isNew = this.#untilNs === undefined;
    this.#untilNs = untilNs;
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => {
      this.#lost();
    }, this.remainingMs());
    if (!isNew || this.#closed) return;
    this.#parts.log.info(`this process leads: ${this.#parts.identity}`);
    this.#parts.onLead();
  }

  #lost(): void {
    if (this.#untilNs === undefined) return;
    this.#untilNs = undefined;
    clearTimeout(this.#expiry);
    this.#parts.log.info('this process does not lead any more');
    this.#parts.onLoss();
  }
}

/** v1.MicroTime. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
