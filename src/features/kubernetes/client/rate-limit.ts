/** Requests a second, and how many may be made at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

const OF_A_NODE: Rate = { perSecond: 5, burst: 10 };

interface Waiting {
  readonly urgency: number;
  readonly tokens: number;
  readonly go: () => void;
}

/** Limits the requests of one client, the urgent ones first. Requests of the same urgency keep their order. */
export class RateLimit {
  readonly #rate: Rate;
  #tokens: number;
  #atMs: number;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #nowMs: () => number;

  constructor(nowMs = (): number => performance.now(), rate = OF_A_NODE) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#nowMs = nowMs;
    this.#atMs = nowMs();
  }

  /**
   * Resolves when a request may be made. Rejects with the reason of `signal`.
   *
   * @param urgency  the lowest comes first
   * @param tokens  of this request, and of those that follow it at once; at most the burst
   */
  take(urgency: number, signal: AbortSignal, tokens = 1): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        urgency,
        tokens,
        go: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) {
        giveUp();
        return;
      }
      this.#waiting.push(waiting);
      this.#serve();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #serve(): void {
    clearTimeout(this.#timer);
    const nowMs = this.#nowMs();
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) / 1_000) * perSecond);
    this.#atMs = nowMs;
    for (;;) {
      const [some] = this.#waiting;
      if (some === undefined) break;
      const first = this.#waiting.reduce((best, other) => (other.urgency < best.urgency ? other : best), some);
      const missing = first.tokens - this.#tokens;
      if (missing > 0) {
        this.#timer = setTimeout(this.#serve.bind(this), Math.ceil((missing / perSecond) * 1_000)).unref();
        return;
      }
      this.#waiting = this.#waiting.filter((other) => other !== first);
      this.#tokens -= first.tokens;
      first.go();
    }
  }
}
