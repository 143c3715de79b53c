import { attempt } from '../errors.js';
import { native } from '../native/index.js';

/** undefined: another evictd holds it, or it is not available now. */
export function tryLock(path: string): { close(): void } | undefined {
  return attempt(() => new native.FileLock(path));
}
