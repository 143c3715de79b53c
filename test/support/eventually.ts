import { setTimeout as pause } from 'node:timers/promises';

/** Waits until `look` returns something other than undefined and false. Fails after 10 s, saying what was waited for. */
export async function eventually<T>(what: string, look: () => T | undefined | false): Promise<T> {
  const end = Date.now() + 10_000;
  while (Date.now() < end) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    await pause(5);
  }
  throw new Error(`waited 10 s for ${what}`);
}
