import { win32 } from 'node:path';
import { isWindowsPath } from '../core/windows-path.js';
import { pathText, TextError } from './text.js';

/**
 * An absolute path of either operating system, normalised; whether it is one of the node's own is said afterwards (elsewhere.ts).
 *
 * @throws TextError
 */
export function nodePathText(text: string, example: string): string {
  if (!isWindowsPath(text)) return pathText(text, example);
  const problem = text.split(/[\\/]/).includes('..') ? 'contains ..' : text.includes('\0') ? 'contains NUL' : undefined;
  if (problem !== undefined) {
    throw new TextError('EVICTD_CONFIG_PATH', `${problem}: ${JSON.stringify(text)}`, 'write it with its drive: C:\\ProgramData\\evictd');
  }
  const path = win32.normalize(text);
  return path.length > win32.parse(path).root.length ? path.replace(/\\$/, '') : path;
}
