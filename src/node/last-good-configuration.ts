import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedConfig, WrittenConfig } from '../config/config.js';
import { replaceFileSync } from '../storage/directory.js';
import { attempt } from '../errors.js';

/**
 * The configuration in force, as a file in the runtime directory: commands go on with it where the files have errors by
 * now. Settings may have secrets, so only root may read it.
 */
export class LastGoodConfiguration {
  readonly #path: string;

  constructor(runtimeDirectory: string, instance: string) {
    this.#path = join(runtimeDirectory, `configuration-${instance}.json`);
  }

  /** Never throws: without the file commands use the defaults. */
  keep({ written }: Pick<LoadedConfig, 'written'>): void {
    try {
      replaceFileSync(this.#path, JSON.stringify(written), 0o600);
    } catch {
      this.close(); // an older one would be wrong
    }
  }

  close(): void {
    attempt(() => {
      rmSync(this.#path, { force: true }); // fails where the directory is gone or read-only
    });
  }
}

/** The configuration of the newest evictd that runs or was killed. undefined: there is none, or it cannot be read. */
export function lastGoodConfiguration(runtimeDirectory: string): WrittenConfig | undefined {
  try {
    const paths = readdirSync(runtimeDirectory).flatMap((name) =>
      /^configuration-.+\.json$/.test(name) ? join(runtimeDirectory, name) : [],
    );
    const [newest] = paths.map((path) => ({ path, atMs: statSync(path).mtimeMs })).sort((a, b) => b.atMs - a.atMs);
    return newest && (JSON.parse(readFileSync(newest.path, 'utf8')) as WrittenConfig);
  } catch {
    return undefined;
  }
}
