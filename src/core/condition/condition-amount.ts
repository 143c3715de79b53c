import { parseDuration } from '../quantity/duration.js';
import { meantAmount } from '../quantity/meant-amount.js';
import { parseQuantity, quantityValue } from '../quantity/quantity.js';
import { METRICS, type MetricDefinition } from '../policy/metric.js';
import type { Amount, Comparison, MetricReference } from '../policy/condition.js';
import { isSameMetric, neverExceeds } from './metric-bounds.js';
import { ConditionProblem, type ConditionFault } from './condition-problem.js';
import type { Token } from './condition-scan.js';

/** The suffixes of Kubernetes without those below one: a tenth of a byte means nothing. */
const QUANTITY = /^\d{1,15}(?:\.\d{1,9})?(?:[kMGTPE]|[KMGTPE]i)?$/;
/** Units, and those that Kubernetes does not know, for which evictd suggests the right one. */
const UNIT = /^(?:%|\/s|[kmgtpe]?i?(?:b|bytes?)?(?:\/s)?|[mnu]?s|[mh])$/i;
const PERCENTAGE = /^(\d{1,9}(?:\.\d{1,7})?)%$/;
const NS_PER_SECOND = 1e9;

type Kind = Amount['kind'];

/** What a metric is compared with, for messages. */
export function acceptedAmounts({ kind, unit, whole }: MetricDefinition): { readonly kinds: readonly Kind[]; readonly text: string } {
  const amount = unit === 'bytes' ? '100Mi' : unit === 'seconds' ? '10m' : '1000';
  const share = whole === undefined ? (unit === 'bytes' ? ', or a percentage of another metric (90% of memory.max)' : '') : ', or 10%';
  switch (kind) {
    case 'level':
      return unit === 'share' ? { kinds: ['share'], text: '40%' } : { kinds: ['quantity', 'share'], text: `${amount}${share}` };
    case 'counter':
      return { kinds: ['quantity', 'rate'], text: `${amount} or ${amount}/s, and over 30s` };
    case 'growth':
      return { kinds: ['quantity', 'rate', 'share'], text: `${amount}, 20Mi/s or 10%, and over 30s` };
    case 'stall':
      return { kinds: ['share'], text: '40%' };
  }
}

/**
 * The amount of a comparison, with its unit.
 *
 * @param base  after `of`; undefined: there is no `of`
 * @throws ConditionProblem
 */
export function readAmount(
  metric: MetricReference,
  token: Token,
  base: { readonly metric: MetricReference; readonly token: Token } | undefined,
): Amount {
  const definition = METRICS[metric.name];
  const accepted = acceptedAmounts(definition);
  const amount = parseAmount(token, definition, accepted.text);
  if (!accepted.kinds.includes(amount.kind)) {
    const what = { quantity: 'an amount', rate: 'an amount per second', share: 'a percentage' }[amount.kind];
    throw problem(token, `${metric.name} is not compared with ${what}: ${token.text}`, `write ${accepted.text}`);
  }
  if (base !== undefined) return withBase(amount, metric, token, base);
  if (amount.kind === 'share' && definition.kind === 'level' && definition.unit !== 'share' && definition.whole === undefined) {
    const hint = definition.unit === 'bytes' ? `write ${token.text} of memory.max, or an amount (100Mi)` : `write ${accepted.text}`;
    throw problem(token, `${token.text} of what? ${metric.name} has no total`, hint);
  }
  return amount;
}

function withBase(
  amount: Amount,
  metric: MetricReference,
  token: Token,
  base: { readonly metric: MetricReference; readonly token: Token },
): Amount {
  const definition = METRICS[metric.name];
  const other = METRICS[base.metric.name];
  if (isSameMetric(base.metric, metric)) {
    throw problem(base.token, `${other.name} is compared with itself`, 'name another metric, like memory.max, or write an amount');
  }
  if (amount.kind !== 'share')
    throw problem(base.token, `only a percentage is of another metric: ${token.text}`, 'remove "of", or write 90% of memory.max');
  const fits = definition.kind === 'level' && definition.unit !== 'share';
  if (!fits)
    throw problem(base.token, `a percentage of ${definition.name} is not of another metric`, `write ${acceptedAmounts(definition).text}`);
  if (other.kind !== 'level' || other.unit !== definition.unit) {
    throw problem(
      base.token,
      `${other.name} cannot be compared with ${definition.name}`,
      'name a metric of the same unit, like memory.max',
    );
  }
  return { ...amount, of: base.metric };
}

function parseAmount(token: Token, { unit, name }: MetricDefinition, accepted: string): Amount {
  const { text } = token;
  if (text.startsWith('-')) throw problem(token, `must not be negative: ${text}`, `write ${accepted}`);
  const [, percent] = PERCENTAGE.exec(text) ?? [];
  if (percent !== undefined) return { kind: 'share', ratio: Number(percent) / 100, text };
  const [, amount = '', per] = /^([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  if (per !== undefined && per !== 's') throw problem(token, `rates are per second: ${text}`, `write ${amount}/s`);
  if (per === 's' && unit !== 'seconds' && unit !== 'share')
    return { kind: 'rate', perSecond: numberOf(token, amount, unit, accepted), text };
  if (per !== undefined || unit === 'share') throw problem(token, `not an amount of ${name}: ${text}`, `write ${accepted}`);
  return { kind: 'quantity', value: unit === 'seconds' ? secondsOf(token, text) : numberOf(token, text, unit, accepted), text };
}

/** A whole number: of bytes with a suffix, or 0. */
function numberOf(token: Token, text: string, unit: 'bytes' | 'count', accepted: string): number {
  if (!QUANTITY.test(text))
    throw problem(token, `not an amount: ${text === '' ? token.text : text}`, meantAmount(text) ?? `write ${accepted}`);
  if (unit === 'bytes' && /^[\d.]+$/.test(text) && text !== '0') {
    throw problem(token, `bytes need a unit: ${text}`, `write ${text}Mi, ${text}Ki or ${text}k`);
  }
  const value = quantityValue(parseQuantity(text));
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw problem(token, `too large: ${text}`, 'write less than 8Pi');
  return Number(value);
}

function secondsOf(token: Token, text: string): number {
  return Number(durationOf(token, text, 'AMOUNT')) / NS_PER_SECOND;
}

/**
 * A unit that stands behind a space.
 *
 * @throws ConditionProblem
 */
export function refuseSpace(number: Token, unit: Token): void {
  if (!/^[\d.]+$/.test(number.text) || unit.kind !== 'word' || !UNIT.test(unit.text)) return;
  const joined = number.text + unit.text;
  const hint = meantAmount(joined.replace(/\/s$/, '')) ?? `write ${joined}`;
  throw problem(unit, `a space between ${number.text} and ${unit.text}`, hint);
}

/**
 * Nanoseconds.
 *
 * @throws ConditionProblem
 */
export function durationOf(token: Token, text: string, fault: ConditionFault): bigint {
  try {
    return parseDuration(text);
  } catch {
    throw new ConditionProblem(
      fault,
      token.offset,
      `not a duration: ${text === '' ? 'nothing' : text}`,
      'write a number and a unit: 10s, 1m, 1h30m',
    );
  }
}

/** The number of an amount without its unit. */
export function amountNumber(amount: Amount): number {
  return amount.kind === 'share' ? amount.ratio : amount.kind === 'rate' ? amount.perSecond : amount.value;
}

/** A comparison that has the same result for every reading is a mistake. `ratio` and amounts are never below 0. */
export function constantComparison(metric: MetricReference, comparison: Comparison, amount: Amount): 'always' | 'never' | undefined {
  const { kind, unit, whole } = METRICS[metric.name];
  const value = amountNumber(amount);
  const isNegative = kind === 'growth';
  if (value === 0 && !isNegative && comparison === '<') return 'never';
  if (value === 0 && !isNegative && comparison === '>=') return 'always';
  const base = amount.kind === 'share' ? amount.of : undefined;
  const isPart = unit === 'share' || (whole !== undefined && amount.kind === 'share' && base === undefined);
  // Statistics lag behind: only more than all of it is impossible.
  if (!isPart && !(base !== undefined && value > 1 && neverExceeds(metric, base))) return undefined;
  if (value > 1) return comparison === '<' || comparison === '<=' ? 'always' : 'never';
  if (value === 1 && comparison === '>') return 'never';
  return value === 1 && comparison === '<=' ? 'always' : undefined;
}

function problem(token: Token, message: string, hint: string): ConditionProblem {
  return new ConditionProblem('AMOUNT', token.offset, message, hint);
}
