import { stat } from 'node:fs';

/**
 * libuv makes its threads, all of them, at the first use of one, and aborts the process if it cannot: not when there is no process id left, but now. What
 * is asked for does not matter.
 */
export function startThreadPool(): void {
  stat('/', () => undefined);
}
