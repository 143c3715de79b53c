import { setTimeout as pause } from 'node:timers/promises';
import { SLOWNESS } from '../support/slowness.js';

/** Generous: a test that waits for so long has failed, however loaded the machine is. */
const PATIENCE_MS = 30_000 * SLOWNESS;
const POLL_MS = 10;

/** Waits for something to be true. Throws, with `circumstances`, when it does not become so. */
export async function until(
  what: string,
  happened: () => boolean | Promise<boolean>,
  circumstances: () => string = () => '',
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await happened())) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}. ${circumstances()}`);
    await pause(POLL_MS);
  }
}

/** For what should not happen: as long as evictd would need several times over, emulated too. */
export const A_WHILE_MS = 700;

export async function aWhile(): Promise<void> {
  await pause(A_WHILE_MS);
}
