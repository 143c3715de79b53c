import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import nodeGypBuild from 'node-gyp-build';
import { EvictdError } from '../errors.js';

interface Addon {
  /** The addon, with the contract of its system: ./binding.d.ts or ./windows-binding.d.ts. */
  readonly loaded: unknown;
  readonly path: string;
}

let addon: Addon | undefined;

/**
 * The addon of this environment (main thread or worker): its watches wake the thread that loaded it. It is in
 * prebuilds/ beside the bundle, or in dist/prebuilds/ when the sources run. Throws EVICTD_NATIVE_LOAD.
 */
export function loadAddon(): Addon {
  addon ??= load();
  return addon;
}

function load(): Addon {
  const roots = [import.meta.dirname, join(import.meta.dirname, '../../dist')];
  const root = roots.find((directory) => existsSync(join(directory, 'prebuilds'))) ?? import.meta.dirname;
  try {
    const path = nodeGypBuild.resolve(root);
    // A bundle's own `require` is not Node's.
    return { loaded: createRequire(import.meta.url)(path), path };
  } catch (cause) {
    throw new EvictdError('EVICTD_NATIVE_LOAD', `the native addon cannot be loaded from ${join(root, 'prebuilds')}`, {
      hint: 'there is a prebuilt addon for linux-x64 and linux-arm64 with glibc 2.34 or later, and for win32-x64; elsewhere run `make build` in a checkout',
      cause,
    });
  }
}
