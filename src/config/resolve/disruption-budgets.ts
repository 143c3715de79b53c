import * as z from 'zod/mini';
import { UNHEALTHY_POLICIES, type DisruptionBudget, type DisruptionLimit } from '../../core/disruption/disruption-budget.js';
import { match } from '../parse/workload-rules.js';
import { writtenNumber, type ListItem } from '../value/document.js';
import type { Report } from '../value/report.js';
import { integer, MAX_INT32, parsed, refuse } from '../value/scalar.js';
import { TextError } from '../value/value-text.js';

/** Part of metrics and of answers. */
const name = parsed((input) => {
  if (/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(input)) return input;
  const hint = 'use at most 63 lower-case letters, digits and -, beginning and ending with a letter or digit';
  throw new TextError('EVICTD_CONFIG_VALUE', `not a valid name of a budget: ${JSON.stringify(input)}`, hint);
});

/** IntOrString: a number or a percentage, as the API server accepts it. */
const amount = parsed((input): Omit<DisruptionLimit, 'of'> => {
  const [, digits, percent] = /^([0-9]+)(%?)$/.exec(String(writtenNumber(input))) ?? [];
  const value = Number(digits);
  const isPercentage = percent === '%';
  if (digits !== undefined && value <= (isPercentage ? 100 : MAX_INT32)) return { value, isPercentage };
  throw new TextError('EVICTD_CONFIG_VALUE', `not a number of workloads: ${JSON.stringify(input)}`, 'write a number, or 0% to 100%');
});

export const disruptionBudget = z.pipe(
  z.strictObject({
    name,
    match,
    minAvailable: z.optional(amount),
    maxUnavailable: z.optional(amount),
    expected: z.optional(integer(1, MAX_INT32)),
    unhealthyPolicy: z.optional(z.enum(UNHEALTHY_POLICIES)),
  }),
  z.transform(({ minAvailable, maxUnavailable, unhealthyPolicy = 'IfHealthyBudget', ...entry }, payload): DisruptionBudget => {
    const limit = minAvailable ?? maxUnavailable;
    const hint = 'write one of minAvailable and maxUnavailable';
    if (limit === undefined) return refuse(payload, entry, 'EVICTD_CONFIG_MISSING', 'is missing', hint, ['minAvailable']);
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      return refuse(payload, maxUnavailable, 'EVICTD_CONFIG_VALUE', 'is set beside minAvailable', hint, ['maxUnavailable']);
    }
    const of = minAvailable === undefined ? 'maxUnavailable' : 'minAvailable';
    return { ...entry, limit: { of, ...limit }, unhealthyPolicy } as DisruptionBudget; // zod leaves out optional keys that are not set
  }),
);

/** Reports duplicate names. */
export function distinctBudgets(items: readonly ListItem<DisruptionBudget>[], report: Report): readonly ListItem<DisruptionBudget>[] {
  const names = new Set<string>();
  for (const { value, layer, path } of items) {
    if (names.has(value.name)) {
      report.issue('EVICTD_CONFIG_VALUE', `duplicate name of a disruption budget: ${value.name}`, layer.at(path), 'rename one of them');
    }
    names.add(value.name);
  }
  return items;
}
