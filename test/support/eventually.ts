import { setTimeout as pause } from 'node:timers/promises';
import { SLOWNESS } from './slowness.js';

const PATIENCE_S = 10 * SLOWNESS;

/** Waits until `look` returns something other than undefined and false. Fails after 10 s (more on a slow machine), saying what was waited for. */
export async function eventually<T>(what: string, look: () => T | undefined | false): Promise<T> {
  const end = Date.now() + PATIENCE_S * 1000;
  while (Date.now() < end) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    await pause(5);
  }
  throw new Error(`waited ${String(PATIENCE_S)} s for ${what}`);
}
