import { readFileSync, rmSync } from 'node:fs';
import type * as z from 'zod/mini';
import { errnoName } from '../errors.js';
import { checked } from './checked-json.js';
import { replaceFileSync } from './directory.js';

/**
 * A small file in the runtime directory, of which the content is valid until the next boot: pids, inodes of cgroups. `T`:
 * what is read; `Saved`: what is written, as JSON has it.
 */
export class BootFile<T extends object, Saved extends object = T> {
  constructor(
    readonly path: string,
    private readonly bootId: string,
    private readonly version: number,
    private readonly schema: () => z.ZodMiniType<T>,
  ) {}

  /** undefined: no file. Throws if the file is invalid. */
  load(): T | 'of another boot' | undefined {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (errnoName(error) === 'ENOENT') return undefined;
      throw error;
    }
    const { version, bootId, ...content } = JSON.parse(text) as { version: unknown; bootId: unknown };
    if (version !== this.version) throw new Error(`${this.path} has format version ${String(version)}, not ${String(this.version)}`);
    return bootId === this.bootId ? checked(content, this.schema(), this.path) : 'of another boot';
  }

  /** Atomic: the old content stays if writing fails. */
  save(content: Saved): void {
    replaceFileSync(this.path, `${JSON.stringify({ version: this.version, bootId: this.bootId, ...content })}\n`, 0o600);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}
