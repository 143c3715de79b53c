import { native } from '../native/index.js';

/** undefined: another evictd holds it, or it is not available now. */
export function tryLock(path: string): { close(): void } | undefined {
  try {
    return new native.FileLock(path);
  } catch {
    return undefined;
  }
}
