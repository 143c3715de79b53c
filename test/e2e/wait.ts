import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';

/** A test that waits longer has failed, however busy the machine is. */
const TIMEOUT_MS = 30_000;

/** Waits until `happened` is true. Throws with `circumstances` after the time limit. */
export async function until(
  what: string,
  happened: () => boolean | Promise<boolean>,
  circumstances: () => string = () => '',
  ms = TIMEOUT_MS,
): Promise<void> {
  await eventually(what, happened, { ms, circumstances });
}

/** For asserting that something does not happen: several times as long as evictd needs, on emulated machines too. */
export const A_WHILE_MS = 700;

export async function aWhile(): Promise<void> {
  await pause(A_WHILE_MS);
}
