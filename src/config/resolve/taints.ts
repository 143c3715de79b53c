import * as z from 'zod/mini';
import { ownTaint } from '../../core/disruption/node-taints.js';
import { isSameTaint, TAINT_EFFECTS, taintText, type Taint } from '../../core/disruption/taint.js';
import { tolerationProblems } from '../../core/disruption/toleration-validation.js';
import type { Toleration } from '../../core/disruption/toleration.js';
import type { ListItem } from '../value/document.js';
import type { Report } from '../value/report.js';
import { integer, MAX_INT32, refuseAt, text } from '../value/scalar.js';

const HINTS: Readonly<Record<string, string>> = {
  key: 'write the key as it is in the taint: maintenance',
  operator: 'write operator: Exists without a value, or a key and a value',
  value: 'write the value as it is in the taint: yes',
  effect: `accepted: ${TAINT_EFFECTS.join(', ')}; tolerationSeconds needs NoExecute`,
};

export const toleration = z.pipe(
  z.strictObject({
    key: z.optional(text),
    operator: z.optional(text),
    value: z.optional(text),
    effect: z.optional(text),
    tolerationSeconds: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
  }),
  z.transform(({ key = '', operator = '', value = '', effect = '', tolerationSeconds }, payload): Toleration => {
    const seconds = tolerationSeconds === undefined ? {} : { tolerationSeconds: BigInt(tolerationSeconds) };
    const read = { key, operator, value, effect, ...seconds };
    for (const { field, message } of tolerationProblems(read)) {
      refuseAt(payload, read[field], 'EVICTD_CONFIG_TOLERATION', message, HINTS[field] ?? '', [field]);
    }
    return read;
  }),
);

/** Reports taints with the same key and effect, and those that stand for a condition. */
export function distinctTaints(items: readonly ListItem<Taint>[], report: Report): readonly ListItem<Taint>[] {
  for (const [index, { value, layer, path }] of items.entries()) {
    const refuse = (message: string, hint: string): void => report.issue('EVICTD_CONFIG_TAINT', message, layer.at(path), hint);
    const other = items.slice(0, index).find((earlier) => isSameTaint(earlier.value, value));
    if (other) refuse(`${taintText(value)} and ${taintText(other.value)} have the same key and effect`, 'remove one of them');
    const own = ownTaint(value);
    if (own) refuse(`${taintText(value)} stands for ${own.of}`, `remove it: ${own.ends}`);
  }
  return items;
}
