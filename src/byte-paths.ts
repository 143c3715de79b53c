import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { bytesOfText, textOfBytes } from './core/name/byte-text.js';

/** U+FFFD, which Node writes for bytes that are not UTF-8. */
const REPLACED = '\ufffd';

/** A path for node:fs, which would write U+FFFD for a byte that is not UTF-8. */
export function fsPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : Buffer.from(bytesOfText(path));
}

/** The names in a directory. Throws as readdirSync does. */
export function namesIn(directory: string): string[] {
  const names = readdirSync(fsPath(directory));
  if (!names.some((name) => name.includes(REPLACED))) return names;
  return readdirSync(fsPath(directory), { encoding: 'buffer' }).map(textOfBytes);
}

/** The names of the subdirectories. Throws as readdirSync does. */
export function subdirectoriesIn(directory: string): string[] {
  const names = (entries: readonly { readonly name: string; isDirectory(): boolean }[]): string[] =>
    entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const found = names(readdirSync(fsPath(directory), { withFileTypes: true }));
  if (!found.some((name) => name.includes(REPLACED))) return found;
  const entries = readdirSync(fsPath(directory), { withFileTypes: true, encoding: 'buffer' });
  return entries.flatMap((entry) => (entry.isDirectory() ? [textOfBytes(entry.name)] : []));
}

/** The order of names by their bytes, as programs written in C and Go have it. */
export function byteOrder(a: string, b: string): number {
  return Buffer.compare(bytesOfText(a), bytesOfText(b));
}

/** Throws as realpathSync.native does: the other one takes text only. */
export function realPath(path: string): string {
  return textOfBytes(realpathSync.native(fsPath(path), { encoding: 'buffer' }));
}

/** A file of the kernel with names in it. Throws as readFileSync does. */
export function namesText(path: string): string {
  return textOfBytes(readFileSync(fsPath(path)));
}
