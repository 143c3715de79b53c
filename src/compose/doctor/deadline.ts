/** As long as `check` waits for a filesystem. */
export const FILESYSTEM_PATIENCE_MS = 1_000;
/** In how many pieces a wait is counted. */
const PIECES = 10;

/** Waits for what may never come. */
export class Patience {
  /** Something was given up, and may hang for ever: the process has to be ended then, it does not end by itself. */
  exhausted = false;

  /**
   * What `work` gives, or undefined when that takes too long; its signal is aborted then. Time counts only while the event loop turns: on a busy machine this process may be
   * the one that is late, and what has been answered by then was answered.
   */
  within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const aborting = new AbortController();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const wait = (pieces: number): void => {
        timer = setTimeout(() => {
          if (pieces > 1) {
            wait(pieces - 1);
            return;
          }
          this.exhausted = true;
          resolve(undefined);
          aborting.abort();
        }, ms / PIECES);
      };
      wait(PIECES);
      const done = (): void => {
        clearTimeout(timer);
      };
      work(aborting.signal).then(resolve, reject).then(done, done);
    });
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
