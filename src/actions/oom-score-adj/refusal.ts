import { errnoName } from '../../errors.js';

/** Whether evictd itself was short of something: it says nothing about the process, and passes. */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.has(errnoName(error) ?? '');
}

/** Whether a process does not take this value, whenever it is tried. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(errnoName(error) ?? '');
}

const SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);
const REFUSALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);
