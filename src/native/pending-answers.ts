import { withinTime } from './bounded-answer.js';

/**
 * Background reads of the addon that may hang for ever (a dead mount). A read that was given up continues, and is not
 * started again before it has answered.
 */
export class BackgroundReads {
  readonly #hanging = new Set<string>();

  /** Given up, and without an answer since. */
  get subjects(): readonly string[] {
    return [...this.#hanging];
  }

  has(subject: string): boolean {
    return this.#hanging.has(subject);
  }

  /** The result, or why there is none. Never rejects. */
  async read<T>(subject: string, withinMs: number, begin: (onDone: (result: T) => void) => void): Promise<T | string> {
    if (this.has(subject)) return 'still no answer';
    return withinTime<T>(withinMs, (onDone) => {
      begin((result) => {
        this.#hanging.delete(subject);
        onDone(result);
      });
      return {
        close: () => {
          this.#hanging.add(subject);
        },
      };
    });
  }
}
