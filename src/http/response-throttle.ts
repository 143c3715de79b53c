import { setTimeout } from 'node:timers/promises';
import type { Route } from './route.js';

/** The pause after an answer, for each unit of processor time that it took: clients take at most a twentieth of a processor together. */
const PAUSE_FACTOR = 20;
/** Where memory is short, an answer takes long: without a limit of the pause, the next client gives up before its answer. */
const LONGEST_PAUSE_MS = 1_000;

/** Makes one answer at a time, with pauses. */
export class ResponseThrottle {
  #free: Promise<unknown> = Promise.resolve();

  /** @param isGone  whether the client does not wait any more */
  run<T>(isGone: () => boolean, work: () => Promise<T> | T): Promise<T> {
    let pauseMs = 0;
    const answer = this.#free.then(async () => {
      if (isGone()) throw new Error('the client has gone');
      const before = process.cpuUsage();
      try {
        return await work();
      } finally {
        const { user, system } = process.cpuUsage(before);
        pauseMs = Math.min(((user + system) / 1_000) * PAUSE_FACTOR, LONGEST_PAUSE_MS);
      }
    });
    const rest = (): Promise<void> | undefined => (pauseMs === 0 ? undefined : setTimeout(pauseMs, undefined, { ref: false }));
    this.#free = answer.then(rest, rest);
    return answer;
  }
}

/** Routes that share a throttle. */
export function throttled(routes: readonly Route[]): readonly Route[] {
  const throttle = new ResponseThrottle();
  return routes.map((route) => ({ ...route, answer: (request) => throttle.run(request.isGone, () => route.answer(request)) }));
}
