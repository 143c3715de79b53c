import { readFileSync } from 'node:fs';
import type { Unseen } from '../../facts.js';
import { errnoName } from '../../../errors.js';

/** A file of the kernel or a small file of /etc. Not for filesystems that may hang. */
export function textOf(path: string): string | Unseen {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return { unseen: `${path}: ${errnoName(error) ?? String(error)}` };
  }
}

/** undefined: not readable. */
export function textIfAny(path: string): string | undefined {
  const text = textOf(path);
  return typeof text === 'string' ? text : undefined;
}

/** A file with one number. */
export function numberIfAny(path: string): number | undefined {
  return numberIn(textIfAny(path));
}

/** The content of such a file. */
export function numberIn(content: string | undefined): number | undefined {
  const text = content?.trim();
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}
