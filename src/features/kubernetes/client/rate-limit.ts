import { aborted } from './aborted.js';

/** Requests a second, and how many may be made at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

const OF_A_NODE: Rate = { perSecond: 5, burst: 10 };

interface Waiting {
  readonly urgency: number;
  readonly tokens: number;
  readonly signal: AbortSignal;
  readonly go: () => void;
}

/** Limits the requests of one client, the urgent ones first. Requests of the same urgency keep their order. */
export class RateLimit {
  #tokens: number;
  #atMs: number;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly nowMs = (): number => performance.now(),
    private readonly rate = OF_A_NODE,
  ) {
    this.#tokens = rate.burst;
    this.#atMs = nowMs();
  }

  /**
   * Resolves when a request may be made. Rejects with the reason of `signal`.
   *
   * @param urgency  the lowest comes first
   * @param tokens  of this request, and of those that follow it at once; at most the burst
   */
  take(urgency: number, signal: AbortSignal, tokens = 1): Promise<void> {
    const turn = new Promise<void>((go) => {
      this.#waiting.push({ urgency, tokens, signal, go });
      this.#serve();
    });
    return aborted(turn, signal);
  }

  #serve(): void {
    clearTimeout(this.#timer);
    const nowMs = this.nowMs();
    const { perSecond, burst } = this.rate;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) / 1_000) * perSecond);
    this.#atMs = nowMs;
    this.#waiting = this.#waiting.filter(({ signal }) => !signal.aborted).sort((a, b) => a.urgency - b.urgency);
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const missing = first.tokens - this.#tokens;
      if (missing > 0) {
        this.#timer = setTimeout(this.#serve.bind(this), Math.ceil((missing / perSecond) * 1_000)).unref();
        return;
      }
      this.#waiting.shift();
      this.#tokens -= first.tokens;
      first.go();
    }
  }
}
