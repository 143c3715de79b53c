import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { checkedJson } from '../storage/checked-json.js';
import type { Turns } from '../storage/turns.js';
import { attempt, errnoName } from '../errors.js';

/** More do not matter. */
const MAX_BOOTS = 100;

/** The file of an instance (instanceName of the host). */
export function resetFilePath(stateDirectory: string, instance: string): string {
  return join(stateDirectory, `${instance}.resets.json`);
}

/**
 * A file in the state directory that names this boot from an eviction until the machine has outlasted it. A boot that it
 * names later went down without a stop of evictd, soon after an eviction. Names of boots, and no times: a clock that is
 * wrong, or set, does not matter.
 * Every call rejects with Node's errors.
 */
export class ResetFile {
  readonly #path: string;
  readonly #bootId: string;
  #earlier: readonly string[] = [];
  #isNamed = false;
  readonly #turns: Turns;

  constructor(path: string, bootId: string, turns: Turns) {
    this.#path = path;
    this.#bootId = bootId;
    this.#turns = turns;
  }

  /** Earlier boots in a row that went down after an eviction, and whether the file names this one. Call it first. */
  read(): Promise<{ readonly resets: number; readonly isNamed: boolean }> {
    return this.#turns.take(async () => {
      const boots = bootsIn(await readFile(this.#path, 'utf8').catch(unlessAbsent));
      this.#isNamed = boots.includes(this.#bootId);
      this.#earlier = boots.filter((boot) => boot !== this.#bootId);
      return { resets: this.#earlier.length, isNamed: this.#isNamed };
    });
  }

  /** An eviction begins. Resolves when that is on the disk. */
  name(): Promise<void> {
    return this.#turns.take(async () => {
      if (this.#isNamed) return;
      await replaceOnDisk(this.#path, `${JSON.stringify([...this.#earlier, this.#bootId].slice(-MAX_BOOTS))}\n`);
      this.#isNamed = true;
    });
  }

  /**
   * The machine has outlasted it, or evictd is stopped: no boot counts any more.
   *
   * @param timeoutMs  resolves after this time, too
   */
  async forget(timeoutMs?: number): Promise<void> {
    const forgotten = this.#turns.take(async () => {
      if (!this.#isNamed && this.#earlier.length === 0) return;
      await rm(this.#path, { force: true });
      [this.#earlier, this.#isNamed] = [[], false];
    });
    await (timeoutMs === undefined ? forgotten : Promise.race([forgotten, pause(timeoutMs, undefined, { ref: false })]));
  }
}

/** None where evictd has not written it. */
function bootsIn(text: string | undefined): readonly string[] {
  return attempt(() => checkedJson(text ?? '[]', z.array(z.string()))) ?? [];
}

function unlessAbsent(error: unknown): undefined {
  if (errnoName(error) !== 'ENOENT') throw error;
}

/** Atomic, and on the disk: the machine may go down next. */
async function replaceOnDisk(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await withFile(fresh, 'wx', async (file) => {
    await file.writeFile(text);
    await file.sync();
  });
  await rename(fresh, path);
  await withFile(dirname(path), 'r', (directory) => directory.sync()).catch(() => undefined); // Windows cannot
}

async function withFile(path: string, flags: string, use: (file: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}
