import { setTimeout as pause } from 'node:timers/promises';
import { SLOWNESS } from './slowness.js';

const PATIENCE_MS = 10_000;
/** Or for twice as long as the look took: whoever waits must not take the processor from what he waits for. */
const POLL_MS = SLOWNESS > 1 ? 20 : 5;

/** What is not so (yet) is undefined or false. */
type Look<T> = () => T | undefined | false | Promise<T | undefined | false>;

export interface Patience {
  /** On a usual machine; more on a slow one. */
  readonly ms?: number;
  /** What to say beside what was waited for. */
  readonly circumstances?: () => string;
}

/** Waits until `look` returns something other than undefined and false. Fails after 10 s, or `patience`, saying what was waited for. */
export async function eventually<T>(what: string, look: Look<T>, patience: Patience = {}): Promise<T> {
  const end = performance.now() + (patience.ms ?? PATIENCE_MS) * SLOWNESS;
  for (;;) {
    const began = performance.now();
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    const now = performance.now();
    if (now > end) throw new Error(`waited in vain: ${what}. ${patience.circumstances?.() ?? ''}`.trimEnd());
    await pause(Math.max(POLL_MS, 2 * (now - began)));
  }
}
