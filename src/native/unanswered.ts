import { answered } from './answered.js';

/** What the addon reads in the background and may hang for good, as on a dead mount: it is left to go on, and not begun a second time until it has answered. */
export class Unanswered {
  readonly #hanging = new Set<string>();

  /** Those that were given up, and have not answered since. */
  get subjects(): readonly string[] {
    return [...this.#hanging];
  }

  /** It was given up, and has not answered since. */
  has(subject: string): boolean {
    return this.#hanging.has(subject);
  }

  /** Its result, or why there is none. Never rejects. */
  async read<T>(subject: string, withinMs: number, begin: (onDone: (result: T) => void) => void): Promise<T | string> {
    if (this.has(subject)) return 'it still does not answer';
    return answered<T>(withinMs, (onDone) => {
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
