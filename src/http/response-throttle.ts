import { setTimeout } from 'node:timers/promises';

/** The pause after an answer, for each unit of time that it took: clients take at most a twentieth of a processor together. */
const PAUSE_FACTOR = 20;

/** Makes one answer at a time, with pauses. */
export class ResponseThrottle {
  #free: Promise<unknown> = Promise.resolve();

  /** @param isGone  whether the client does not wait any more */
  run<T>(isGone: () => boolean, work: () => Promise<T> | T): Promise<T> {
    let pauseMs = 0;
    const answer = this.#free.then(async () => {
      if (isGone()) throw new Error('the client has gone');
      const beganMs = performance.now();
      try {
        return await work();
      } finally {
        pauseMs = (performance.now() - beganMs) * PAUSE_FACTOR;
      }
    });
    const rest = (): Promise<void> | undefined => (pauseMs === 0 ? undefined : setTimeout(pauseMs, undefined, { ref: false }));
    this.#free = answer.then(rest, rest);
    return answer;
  }
}
