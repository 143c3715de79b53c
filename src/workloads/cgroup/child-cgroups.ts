import { opendirSync, type Dir } from 'node:fs';
import { errnoName } from '../../errors.js';
import type { TreeVisitor } from './source-root.js';

/** Removed meanwhile, a file, or too deep to be opened by its path: what is above it can be evicted as a whole. */
const NOTHING_THERE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENODEV', 'ENOTDIR', 'ENAMETOOLONG']);

/** The names; reads no more than are taken. `unlisted` is called if that fails (EMFILE, ENFILE, ENOMEM). */
export function* cgroupsIn(directory: string, visitor: Pick<TreeVisitor, 'unlisted'>): Generator<string> {
  let opened: Dir | undefined;
  try {
    opened = opendirSync(directory, { bufferSize: 128 });
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) if (!entry.isFile()) yield entry.name;
  } catch (error) {
    if (!NOTHING_THERE.has(errnoName(error))) visitor.unlisted();
  } finally {
    opened?.closeSync();
  }
}
