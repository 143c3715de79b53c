import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatPosition } from '../../src/cli/output/error-text.js';
import type { LoadedConfig } from '../../src/config/config.js';
import type { ConfigFlags } from '../../src/config/merge/flags.js';
import type { Platform } from '../../src/core/signal/operating-system.js';
import { loadConfig } from '../../src/config/load.js';
import { ConfigError } from '../../src/errors.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

/** A directory of its own, gone after the test. */
export function scratch(): string {
  const directory = temporaryDirectory();
  return directory;
}

/** Writes files below the directory and reads config.yaml, its drop-ins and the flags. */
export function load(
  files: Readonly<Record<string, string | Uint8Array>>,
  flags: ConfigFlags = {},
  directory = scratch(),
  platform: Platform = { os: 'linux' },
): LoadedConfig {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true, mode: 0o755 });
    writeFileSync(join(directory, name), text, { mode: 0o644 });
  }
  return loadConfig({ platform, file: join(directory, 'config.yaml'), flags });
}

/** Id of the default of the departure thrashing, which kubelet-profile.test.ts is about. */
export const THRASHING = 'memory.pressure.full>30% & memory.available<10%/3000000000 soft';

/** `file:line:column CODE` of everything that is wrong, without the directory. */
export function issuesOf(read: () => unknown): string[] {
  return errorOf(read).issues.map(({ code, position }) => `${formatPosition(position).replace(/^\/.*evictd-test-[^/]*\/?/, '')} ${code}`);
}

export function errorOf(read: () => unknown): ConfigError {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was wrong');
}
