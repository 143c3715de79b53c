import { lstat } from 'node:fs/promises';
import { withinTime } from '../../native/bounded-answer.js';
import type { MeasuredDirectory } from './directory-measurement.js';

/** A local disk answers within milliseconds. */
const ANSWERED_WITHIN_MS = 1_000;
/** The unit of st_blocks on every filesystem. */
const BLOCK = 512n;

type Look = (path: string) => Promise<{ readonly dev: bigint; readonly blocks: bigint }>;

/** Sizes of container logs of a runtime. A hanging read occupies a thread, so no other starts until it answers. */
export class LogFiles {
  readonly #look: Look;
  #isLooking = false;

  constructor(look: Look = (path) => lstat(path, { bigint: true })) {
    this.#look = look;
  }

  get isHanging(): boolean {
    return this.#isLooking;
  }

  /** Empty if the file is missing, unreadable or slow. One at a time. Never rejects. */
  async at(path: string): Promise<readonly MeasuredDirectory[]> {
    if (this.#isLooking) return [];
    this.#isLooking = true;
    const atNs = process.hrtime.bigint();
    const looked = this.#look(path)
      .then(({ dev, blocks }) => [{ device: dev, amount: { bytes: blocks * BLOCK, inodes: 1n }, atNs }])
      .catch(() => [])
      .finally(() => {
        this.#isLooking = false;
      });
    const found = await withinTime<readonly MeasuredDirectory[]>(ANSWERED_WITHIN_MS, (onDone) => {
      void looked.then(onDone);
      return { close: () => undefined };
    });
    return typeof found === 'string' ? [] : found;
  }
}
