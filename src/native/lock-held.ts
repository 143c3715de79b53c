import { errnoName } from '../errors.js';

const HELD: ReadonlySet<string> = new Set(['EAGAIN', 'ERROR_LOCK_VIOLATION', 'ERROR_SHARING_VIOLATION']);

/** Whether another process holds the lock. pthread_create fails with EAGAIN, too, if there is no thread. */
export function isLockHeld(error: unknown): boolean {
  return HELD.has(errnoName(error) ?? '') && (error as { syscall?: unknown }).syscall !== 'pthread_create';
}
