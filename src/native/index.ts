import type { Binding } from './binding.js';
import { loadAddon } from './load.js';

const { loaded, path } = loadAddon();

/**
 * The native addon, loaded with this module. On Windows it is that of ./windows-binding.d.ts (`ofWindows`): what is used of it without asking for the system is what both contracts
 * have (`SharedBinding`), or is only called where the configuration asks for something that Windows has not.
 */
export const native = loaded as Binding;
export const addonPath = path;

export type * from './binding.js';
