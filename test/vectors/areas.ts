import { checkDuration } from './duration.js';
import { checkQuantity } from './quantity.js';
import type { Check } from './vector.js';

/** What can be checked: the name of a vector file without .jsonl → its check. */
export const AREAS: ReadonlyMap<string, Check> = new Map([
  ['quantity', checkQuantity],
  ['duration', checkDuration],
]);
