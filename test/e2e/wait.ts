import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';

/** Generous: a test that waits for so long has failed, however loaded the machine is. */
const PATIENCE_MS = 30_000;

/** Waits for something to be true. Throws, with `circumstances`, when it does not become so. */
export async function until(
  what: string,
  happened: () => boolean | Promise<boolean>,
  circumstances: () => string = () => '',
  ms = PATIENCE_MS,
): Promise<void> {
  await eventually(what, happened, { ms, circumstances });
}

/** For what should not happen: as long as evictd would need several times over, emulated too. */
export const A_WHILE_MS = 700;

export async function aWhile(): Promise<void> {
  await pause(A_WHILE_MS);
}
