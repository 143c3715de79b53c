import { opendirSync, type Dir } from 'node:fs';
import { errnoName } from '../../errors.js';
import type { TreeVisitor } from './source-root.js';

/** Removed meanwhile, or a file. */
const NOTHING_THERE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENODEV', 'ENOTDIR']);

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
