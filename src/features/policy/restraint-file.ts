import { join } from 'node:path';
import { BootFile } from '../../storage/boot-file.js';
import type { Restraint } from './restraint.js';

const VERSION = 1;

type Stored = Omit<Restraint, 'id'> & { readonly id: string };

export function restraintFilePath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `${instance}.restraints.json`);
}

/** The restraints of an instance, in a file that outlives evictd. Inodes are valid until the next boot. */
export class RestraintFile {
  readonly #file: BootFile<{ readonly restraints: readonly Stored[] }>;

  constructor(path: string, bootId: string) {
    this.#file = new BootFile(path, bootId, VERSION);
  }

  get path(): string {
    return this.#file.path;
  }

  /** Empty: no file, or of another boot. Throws if the file is invalid. */
  load(): readonly Restraint[] {
    const content = this.#file.load();
    return typeof content === 'object' ? content.restraints.map(({ id, ...rest }) => ({ ...rest, id: BigInt(id) })) : [];
  }

  /** Throws Node's errors; the old content stays then. */
  save(restraints: readonly Restraint[]): void {
    if (restraints.length === 0) this.#file.remove();
    else this.#file.save({ restraints: restraints.map(({ id, ...rest }) => ({ ...rest, id: String(id) })) });
  }
}
