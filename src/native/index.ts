import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import nodeGypBuild from 'node-gyp-build';
import { EvictdError } from '../errors.js';
import type { Binding } from './binding.js';

/**
 * The native addon, loaded with this module: for this environment (main thread or worker), since its watches wake the thread that loaded it.
 *
 * It lies in prebuilds/ beside the bundle, in dist/prebuilds/ of the tree when the sources run. Throws EVICTD_NATIVE_LOAD.
 */
export const { native, addonPath } = load();

function load(): { readonly native: Binding; readonly addonPath: string } {
  const roots = [import.meta.dirname, join(import.meta.dirname, '../../dist')];
  const root = roots.find((directory) => existsSync(join(directory, 'prebuilds'))) ?? import.meta.dirname;
  try {
    const path = nodeGypBuild.resolve(root);
    // `require` by hand: a bundle's own one is not Node's.
    return { native: createRequire(import.meta.url)(path) as Binding, addonPath: path };
  } catch (cause) {
    throw new EvictdError('EVICTD_NATIVE_LOAD', `the native addon cannot be loaded from ${join(root, 'prebuilds')}`, {
      hint: 'there is a prebuilt addon for linux-x64 and linux-arm64 with glibc 2.34 or later; elsewhere run `make build` in a checkout',
      cause,
    });
  }
}

export type * from './binding.js';
