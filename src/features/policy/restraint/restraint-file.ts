import * as crypto from 'node:crypto';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { BootFile } from '../../../storage/boot-file.js';
import { makeDirectorySync } from '../../../storage/directory.js';
import { writtenInteger } from '../../../storage/written-number.js';
import type { Restraint } from './restraint.js';

const VERSION = 2;

/** The directory of every evictd's restraints, whatever its configuration, so that another evictd can lift them. A tmpfs. */
export const HELD_DIRECTORY = '/run/evictd';

type Stored = Omit<Restraint, 'id'> & { readonly id: string };
interface Contents<One> {
  readonly lock: string;
  readonly restraints: readonly One[];
}

function contents(): z.ZodMiniType<Contents<Restraint>> {
  const restraint = {
    ...{ kind: z.enum(['throttle', 'freeze']), target: z.string(), path: z.string(), directory: z.string(), id: writtenInteger() },
    ...{ file: z.enum(['memory.high', 'cgroup.freeze', 'freezer.state']), before: z.string(), written: z.string() },
  };
  return z.object({ lock: z.string(), restraints: z.array(z.object(restraint)) });
}

/** @param lock  the lock file that an evictd holds as long as it lives */
export function restraintFilePath(lock: string, directory = HELD_DIRECTORY): string {
  return join(directory, `held-${crypto.createHash('sha256').update(lock).digest('hex').slice(0, 16)}.json`);
}

/** The files of all evictds. */
export function restraintFilesIn(directory: string): readonly string[] {
  try {
    const names = readdirSync(directory).filter((name) => /^held-[0-9a-f]{16}\.json$/.test(name));
    return names.sort().map((name) => join(directory, name));
  } catch {
    return []; // without the directory nothing is held
  }
}

/** The restraints of an evictd, in a file that outlives it. Inodes are valid until the next boot. */
export class RestraintFile {
  readonly #file: BootFile<Contents<Restraint>, Contents<Stored>>;
  readonly #lock: string;

  constructor(path: string, bootId: string, lock: string) {
    this.#file = new BootFile(path, bootId, VERSION, contents);
    this.#lock = lock;
  }

  get path(): string {
    return this.#file.path;
  }

  /** Empty: no file, or of another boot. Throws if the file is invalid. */
  load(): readonly Restraint[] {
    const content = this.#file.load();
    return typeof content === 'object' ? content.restraints : [];
  }

  /** The lock file of the evictd that has written it. undefined: not known. */
  savedLock(): string | undefined {
    try {
      const content = this.#file.load();
      return typeof content === 'object' ? content.lock : undefined;
    } catch {
      return undefined;
    }
  }

  /** Throws Node's errors; the old content stays then. */
  save(restraints: readonly Restraint[]): void {
    if (restraints.length === 0) {
      this.#file.remove();
      return;
    }
    makeDirectorySync(dirname(this.path), 0o700);
    this.#file.save({ lock: this.#lock, restraints: restraints.map(({ id, ...rest }) => ({ ...rest, id: String(id) })) });
  }
}
