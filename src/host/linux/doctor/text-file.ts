import { readFileSync } from 'node:fs';
import type { Unseen } from '../../../doctor/facts/unseen.js';
import { errnoName } from '../../../errors.js';

/** A file of the kernel's, or a small one of /etc. Nothing of a filesystem that may hang is read so. */
export function textOf(path: string): string | Unseen {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return { unseen: `${path}: ${errnoName(error) ?? String(error)}` };
  }
}

/** The same, where it does not matter why it is not to be had. */
export function textIfAny(path: string): string | undefined {
  const text = textOf(path);
  return typeof text === 'string' ? text : undefined;
}
