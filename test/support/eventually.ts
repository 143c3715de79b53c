import { setTimeout as pause } from 'node:timers/promises';
import { SLOWNESS } from './slowness.js';

const TIMEOUT_MS = 10_000;
/** At least twice the duration of `look`, to leave the processor to the process under test. */
const POLL_MS = SLOWNESS > 1 ? 20 : 5;

/** undefined or false: not yet. */
type Look<T> = () => T | undefined | false | Promise<T | undefined | false>;

export interface WaitOptions {
  /** Time limit; multiplied by SLOWNESS. */
  readonly ms?: number;
  /** Details for the error message. */
  readonly circumstances?: () => string;
}

/** Waits until `look` returns something other than undefined and false. Throws after 10 s, or `patience`. */
export async function eventually<T>(what: string, look: Look<T>, patience: WaitOptions = {}): Promise<T> {
  const end = performance.now() + (patience.ms ?? TIMEOUT_MS) * SLOWNESS;
  for (;;) {
    const began = performance.now();
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    const now = performance.now();
    if (now > end) throw new Error(`waited in vain: ${what}. ${patience.circumstances?.() ?? ''}`.trimEnd());
    await pause(Math.max(POLL_MS, 2 * (now - began)));
  }
}
