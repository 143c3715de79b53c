import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { LoadedConfig, WrittenConfig } from '../config/config.js';
import { checkedJson } from '../storage/checked-json.js';
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

/** Settings are checked as those of a file are. */
function written(): z.ZodMiniType<WrittenConfig> {
  const flags = z.record(z.string(), z.union([z.string(), z.array(z.string())]));
  const files = z.array(z.object({ file: z.string(), settings: z.unknown() }));
  const platform = z.union([z.object({ os: z.literal('linux') }), z.object({ os: z.literal('windows'), programData: z.string() })]);
  return z.object({ files, flags, platform: z.optional(platform) }) as z.ZodMiniType<WrittenConfig>;
}

/** The configuration of the newest evictd that runs or was killed. undefined: there is none, or it cannot be read. */
export function lastGoodConfiguration(runtimeDirectory: string): WrittenConfig | undefined {
  try {
    const paths = readdirSync(runtimeDirectory).flatMap((name) =>
      /^configuration-.+\.json$/.test(name) ? join(runtimeDirectory, name) : [],
    );
    const [newest] = paths.map((path) => ({ path, atMs: statSync(path).mtimeMs })).sort((a, b) => b.atMs - a.atMs);
    return newest && checkedJson(readFileSync(newest.path, 'utf8'), written());
  } catch {
    return undefined;
  }
}
