import type { Binding } from './binding.js';
import { loadAddon } from './load.js';

const { loaded, path } = loadAddon();

/**
 * The native addon. On Windows it has the contract of ./windows-binding.d.ts (`ofWindows`): code that does not ask for
 * the system uses only what both contracts have (`SharedBinding`), or what a configuration for Windows cannot ask for.
 */
export const native = loaded as Binding;
export const addonPath = path;

export type * from './binding.js';
