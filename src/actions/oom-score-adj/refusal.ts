import { errnoName } from '../../errors.js';

/** Whether a process does not take this value, whenever it is tried. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(errnoName(error) ?? '');
}

const REFUSALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);
