import * as z from 'zod/mini';
import { formatDuration } from '../../core/quantity/duration.js';
import { QuantityError } from '../../core/quantity/quantity-scan.js';
import type { Quantity } from '../../core/quantity/quantity.js';
import {
  isPressure,
  isResourceSignal,
  isSignal,
  operatorOf,
  SIGNALS,
  WHOLE_SHARE,
  type PressureSignal,
  type Signal,
} from '../../core/signal/signal.js';
import { thresholdId, whenText, type Operand, type Threshold, type ThresholdKind } from '../../core/threshold/threshold.js';
import { FloatError } from '../value/float32.js';
import { keyText, suggestion, type Report } from '../value/report.js';
import type { ListItem } from '../value/document.js';
import { parsed, refuse } from '../value/scalar.js';
import { durationText, MAX_DURATION_NS, meantPercentage, TextError } from '../value/value-text.js';
import { meantAmount } from '../../core/quantity/meant-amount.js';
import { parseThresholdValue, ThresholdError } from './thresholds.js';
import { messageOf } from '../../errors.js';

/** The operands of an entry of `thresholds`; the first one names the starved resource. */
export type Operands = readonly [Operand, ...Operand[]];

export const WHEN_EXAMPLE = "'memory.pressure.full>40% & memory.available<10%'";
const EXAMPLE = `like ${WHEN_EXAMPLE}`;
/** Each operand is compared in every pass. */
const MAX_OPERANDS = 8;
const OPERATORS = ['<', '>'];
const KINDS = ['hard', 'soft'] as const satisfies readonly ThresholdKind[];

/**
 * Parses `SIGNAL<AMOUNT` and `PRESSURE>PERCENT`, joined with `&`; white space around each part is ignored. The first
 * operand of memory, a disk or process ids names the starved resource; a threshold without one alerts and evicts
 * nothing.
 *
 * @throws TextError
 */
export function whenOperands(text: string): Operands {
  const or = /\||\bor\b/i.exec(text);
  if (or !== null) {
    const message = `${or[0]} is for policies: a threshold joins its operands with & only`;
    throw new TextError('EVICTD_CONFIG_WHEN', message, 'write an entry of thresholds for each alternative, or one of policies', or.index);
  }
  const twofold = /&&|\band\b/i.exec(text);
  if (twofold !== null) {
    throw new TextError('EVICTD_CONFIG_WHEN', `${JSON.stringify(text)}: operands are joined with one &`, EXAMPLE, twofold.index);
  }
  let end = -1;
  const parts = text.split('&').map((written) => {
    const start = end + 1;
    end = start + written.length;
    return { part: written.trim(), start: start + written.length - written.trimStart().length, end };
  });
  const missing = parts.findIndex(({ part }) => part === '');
  if (missing !== -1) {
    const message = text.trim() === '' ? 'is empty' : `${JSON.stringify(text)}: an operand is missing before or after &`;
    const offset = missing === 0 ? 0 : parts[missing - 1]?.end;
    throw new TextError('EVICTD_CONFIG_WHEN', message, `join operands with &, ${EXAMPLE}`, offset);
  }
  if (parts.length > MAX_OPERANDS) {
    const message = `${String(parts.length)} operands, the maximum is ${String(MAX_OPERANDS)}`;
    throw new TextError('EVICTD_CONFIG_WHEN', message, 'write several entries of thresholds');
  }
  const operands = parts.map(({ part, start }) => readOperand(part, start));
  const signals = operands.map(({ signal }) => signal);
  const twice = signals.findIndex((signal, index) => signals.indexOf(signal) !== index);
  if (twice !== -1) {
    const hint = 'all operands must be met: keep the stricter one';
    throw new TextError('EVICTD_CONFIG_WHEN', `${String(signals[twice])} occurs twice`, hint, parts[twice]?.start);
  }
  const starved = operands.find(({ signal }) => isResourceSignal(signal)) ?? operands[0];
  if (starved === undefined) throw new Error('no operands');
  return [starved, ...operands.filter((operand) => operand !== starved)];
}

/** @param start  its offset in the text */
function readOperand(part: string, start: number): Operand {
  const at = part.search(/[<>=!]/);
  const name = (at === -1 ? part : part.slice(0, at)).trim();
  const signal = readSignal(name, start);
  const operator = operatorOf(signal);
  const rest = at === -1 ? '' : part.slice(at);
  const written = /^[<>=!]+/.exec(rest)?.[0];
  const value = rest.slice(written?.length ?? 0).trim();
  if (written === undefined) {
    throw new TextError(
      'EVICTD_CONFIG_WHEN',
      `${JSON.stringify(part)} has no operator`,
      `write ${signal}${operator}VALUE`,
      start + part.length,
    );
  }
  if (written !== operator) {
    const why = operator === '>' ? 'a pressure signal is met above its value' : 'an available amount is met below its value';
    const kind = OPERATORS.includes(written) ? 'the wrong operator' : 'not an operator';
    throw new TextError(
      'EVICTD_CONFIG_OPERATOR',
      `${part}: ${written} is ${kind} for ${signal}: ${why}`,
      `write ${signal}${operator}${value}`,
      start + at,
    );
  }
  const valueAt = start + part.length - value.length;
  return { signal, value: isPressure(signal) ? shareValue(signal, value, valueAt) : amountValue(signal, value, valueAt) };
}

function readSignal(name: string, offset: number): Signal {
  if (!isSignal(name)) {
    const near = suggestion(name, SIGNALS);
    const hint = near.startsWith('did') ? near : `${EXAMPLE}; docs/config.md lists the signals`;
    throw new TextError('EVICTD_CONFIG_SIGNAL', `${JSON.stringify(name)} is not a signal`, hint, offset);
  }
  return name;
}

function refusal(signal: Signal, text: string, offset: number): (why: string, hint: string) => never {
  return (why, hint) => {
    const message = `${signal}: ${text === '' ? 'has no value' : JSON.stringify(text)}: ${why}`;
    throw new TextError('EVICTD_CONFIG_THRESHOLD', message, hint, offset);
  };
}

/** The amount as in the maps by signal, except for `0%` and `100%`, which disable an entry there. */
function amountValue(signal: Signal, text: string, offset: number): Operand['value'] {
  const accepted = 'write an amount (100Mi, 1.5Gi, 500M) or a percentage above 0 and below 100 (10%)';
  const refuse = refusal(signal, text, offset);
  let value: Operand['value'] | undefined;
  try {
    value = parseThresholdValue(signal, text);
  } catch (error) {
    const known = error instanceof QuantityError || error instanceof FloatError;
    if (!known && !(error instanceof ThresholdError)) throw error;
    return refuse(messageOf(error), (known ? (meantPercentage(text) ?? meantAmount(text)) : undefined) ?? accepted);
  }
  if (value === undefined) return refuse('the threshold would be disabled', 'remove the entry to disable it');
  if (value.kind === 'percentage' && !(value.fraction > 0 && value.fraction < 1)) return refuse('never met', accepted);
  return value;
}

/** A percentage with at most seven decimals: '40%', '12.5%'. Exact, in billionths of the wall time. */
function shareValue(signal: PressureSignal, text: string, offset: number): Operand['value'] {
  const accepted = 'write the percentage of the wall time, from 0% to below 100% (40%, 12.5%)';
  const refuse = refusal(signal, text, offset);
  const [, sign = '', whole = '', decimals = ''] = /^([+-]?)(\d{1,9})(?:\.(\d{1,7}))?\s*%$/.exec(text) ?? [];
  if (whole === '') return refuse('not a percentage', /^[\d.]+$/.test(text) ? `did you mean ${text}%?` : accepted);
  const share = BigInt(whole) * (WHOLE_SHARE / 100n) + BigInt(decimals.padEnd(7, '0'));
  if (sign === '-' && share > 0n) return refuse('below 0%', accepted);
  if (share > WHOLE_SHARE) return refuse('above 100%', accepted);
  if (share === WHOLE_SHARE) return refuse('never met: at most 100% of the time can be stalled', accepted);
  const quantity: Quantity = {
    text: `${whole.replace(/^0+(?=\d)/, '')}${decimals === '' ? '' : `.${decimals}`}%`,
    nano: share * 1_000_000_000n,
    format: 'DecimalSI',
  };
  return { kind: 'quantity', quantity };
}

export interface ThresholdEntry {
  readonly when: Operands;
  readonly kind: ThresholdKind;
  readonly gracePeriodNs: bigint;
}

/** An entry of the list `thresholds`. Checked by entry, so that an invalid entry does not hide issues of another. */
export const thresholdEntry = z.pipe(
  z.strictObject({
    when: parsed(whenOperands),
    kind: z.enum(KINDS),
    for: z.optional(parsed((input) => durationText(input, 0n, MAX_DURATION_NS))),
  }),
  z.transform(({ when, kind, for: held }, payload): ThresholdEntry => {
    if (kind === 'hard' || held !== undefined) return { when, kind, gracePeriodNs: held ?? 0n };
    const message = 'a soft threshold needs for: how long it must be met before an eviction';
    return refuse(payload, kind, 'EVICTD_CONFIG_GRACE_PERIOD', message, 'add for: 10s, or set kind: hard');
  }),
);

/** The limits of a PSI trigger's window (kernel/sched/psi.c, WINDOW_MIN_US, WINDOW_MAX_US). */
export const PRESSURE_WINDOW_NS = { least: 500_000_000n, most: 10_000_000_000n } as const;

/** The thresholds of the valid entries, in the order of the files. Issues of the others go to the report. */
export function listedThresholds(items: readonly ListItem<ThresholdEntry>[], report: Report): Threshold[] {
  const seen = new Map<string, string>();
  return items.flatMap(({ value, layer, path }): Threshold[] => {
    const threshold = thresholdOf(value);
    const id = thresholdId(threshold);
    const before = seen.get(id);
    if (before === undefined) {
      seen.set(id, keyText(path));
      return [threshold];
    }
    const held = threshold.gracePeriodNs > 0n ? ` for ${formatDuration(threshold.gracePeriodNs)}` : '';
    const message = `${keyText(path)}: ${whenText(threshold)} (${value.kind}${held}) is a duplicate of ${before}`;
    report.issue('EVICTD_CONFIG_DUPLICATE_KEY', message, layer.at(path), 'remove one of them');
    return [];
  });
}

function thresholdOf({ when: [starved, ...also], kind, gracePeriodNs }: ThresholdEntry): Threshold {
  return { ...starved, gracePeriodNs, minReclaim: undefined, kind, ...(also.length === 0 ? {} : { also }) };
}
