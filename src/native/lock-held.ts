import { errnoName } from '../errors.js';

const HELD: ReadonlySet<string> = new Set(['EAGAIN', 'ERROR_LOCK_VIOLATION', 'ERROR_SHARING_VIOLATION']);

/** Whether another process holds the lock. */
export function isLockHeld(error: unknown): boolean {
  return HELD.has(errnoName(error) ?? '');
}
