export const FILESYSTEM_TIMEOUT_MS = 1_000;
const PARTS = 10;

/** Limits waits for answers that may never come. */
export class Timeouts {
  /** A wait ended without an answer: its work may hang for ever and keep the process from ending. */
  expired = false;

  /**
   * The result of `work`; undefined: it took too long, and its signal is aborted. The limit is counted in parts, while
   * the event loop turns: on a busy machine this process itself may be late.
   */
  within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const aborting = new AbortController();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const wait = (parts: number): void => {
        timer = setTimeout(() => {
          if (parts > 1) {
            wait(parts - 1);
            return;
          }
          this.expired = true;
          resolve(undefined);
          aborting.abort();
        }, ms / PARTS);
      };
      wait(PARTS);
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
