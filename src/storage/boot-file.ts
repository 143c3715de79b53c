import { readFileSync, rmSync } from 'node:fs';
import { errnoName } from '../errors.js';
import { replaceFileSync } from './directory.js';

/** A small file in the runtime directory, of which the content is valid until the next boot: pids, inodes of cgroups. */
export class BootFile<T extends object> {
  constructor(
    readonly path: string,
    private readonly bootId: string,
    private readonly version: number,
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
    return bootId === this.bootId ? (content as T) : 'of another boot';
  }

  /** Atomic: the old content stays if writing fails. */
  save(content: T): void {
    replaceFileSync(this.path, `${JSON.stringify({ version: this.version, bootId: this.bootId, ...content })}\n`, 0o600);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}
