import { QuantityError } from '../core/quantity-scan.js';
import type { Quantity } from '../core/quantity.js';
import {
  isPressure,
  isResourceSignal,
  isSignal,
  operatorOf,
  SIGNALS,
  WHOLE_SHARE,
  type PressureSignal,
  type Signal,
} from '../core/signal.js';
import type { Operand } from '../core/threshold.js';
import { FloatError } from './float32.js';
import { suggestion } from './key.js';
import { meantAmount, meantPercentage, messageOf, TextError } from './text.js';
import { parseThresholdValue, ThresholdError } from './thresholds.js';

/** The operands of an entry of `thresholds`, the starved one first. */
export type Operands = readonly [Operand, ...Operand[]];

export const WHEN_EXAMPLE = "'memory.pressure.full>40% & memory.available<10%'";
const EXAMPLE = `like ${WHEN_EXAMPLE}`;
/** Far more than anybody joins; each is compared in every pass. */
const MAX_OPERANDS = 8;
const OPERATORS = ['<', '>'];

/**
 * `SIGNAL<AMOUNT` and `PRESSURE>PERCENT`, joined with `&`, white space around each part ignored. The first operand of memory, a disk or process ids names
 * what is starved; where there is none the threshold alerts and evicts nobody.
 *
 * @throws TextError
 */
export function whenOperands(text: string): Operands {
  if (/&&|\band\b/i.test(text)) {
    throw new TextError('EVICTD_CONFIG_WHEN', `${JSON.stringify(text)}: operands are joined with one &`, EXAMPLE);
  }
  const parts = text.split('&').map((part) => part.trim());
  if (parts.some((part) => part === '')) {
    const message = text.trim() === '' ? 'is empty' : `${JSON.stringify(text)}: nothing stands before or after an &`;
    throw new TextError('EVICTD_CONFIG_WHEN', message, `join operands with &, ${EXAMPLE}`);
  }
  if (parts.length > MAX_OPERANDS) {
    const message = `${String(parts.length)} operands are joined, and at most ${String(MAX_OPERANDS)} can be`;
    throw new TextError('EVICTD_CONFIG_WHEN', message, 'each entry of thresholds stands for itself: write several');
  }
  const operands = parts.map(readOperand);
  const signals = operands.map(({ signal }) => signal);
  const twice = signals.find((signal, index) => signals.indexOf(signal) !== index);
  if (twice !== undefined) {
    throw new TextError('EVICTD_CONFIG_WHEN', `${twice} stands twice`, 'all operands must be met: keep the one that is met later');
  }
  const starved = operands.find(({ signal }) => isResourceSignal(signal)) ?? operands[0];
  if (starved === undefined) throw new Error('a text without operands was refused');
  return [starved, ...operands.filter((operand) => operand !== starved)];
}

function readOperand(part: string): Operand {
  const at = part.search(/[<>=!]/);
  const name = (at === -1 ? part : part.slice(0, at)).trim();
  const signal = readSignal(name);
  const operator = operatorOf(signal);
  const rest = at === -1 ? '' : part.slice(at);
  const written = /^[<>=!]+/.exec(rest)?.[0];
  const value = rest.slice(written?.length ?? 0).trim();
  if (written === undefined) {
    throw new TextError('EVICTD_CONFIG_WHEN', `${JSON.stringify(part)} compares nothing`, `write ${signal}${operator}VALUE`);
  }
  if (written !== operator) {
    const why = operator === '>' ? 'pressure is met above its value' : 'an amount that is left is met below its value';
    const kind = OPERATORS.includes(written) ? 'the wrong operator' : 'no operator';
    throw new TextError(
      'EVICTD_CONFIG_OPERATOR',
      `${part}: ${written} is ${kind} for ${signal}: ${why}`,
      `write ${signal}${operator}${value}`,
    );
  }
  return { signal, value: isPressure(signal) ? shareValue(signal, value) : amountValue(signal, value) };
}

function readSignal(name: string): Signal {
  if (!isSignal(name)) {
    const near = suggestion(name, SIGNALS);
    const hint = near.startsWith('did') ? near : `${EXAMPLE}; docs/config.md lists the signals`;
    throw new TextError('EVICTD_CONFIG_SIGNAL', `${JSON.stringify(name)} is no signal`, hint);
  }
  return name;
}

/** As in the maps by signal; `0%` and `100%`, which switch an entry of a map off, have nothing to say here. */
function amountValue(signal: Signal, text: string): Operand['value'] {
  const accepted = 'write an amount (100Mi, 1.5Gi, 500M) or a percentage above 0 and below 100 (10%)';
  const refuse = (why: string, hint: string): never => {
    throw new TextError('EVICTD_CONFIG_THRESHOLD', `${signal}: ${text === '' ? 'has no value' : JSON.stringify(text)}: ${why}`, hint);
  };
  let value: Operand['value'] | undefined;
  try {
    value = parseThresholdValue(signal, text);
  } catch (error) {
    const known = error instanceof QuantityError || error instanceof FloatError;
    if (!known && !(error instanceof ThresholdError)) throw error;
    return refuse(messageOf(error), (known ? (meantPercentage(text) ?? meantAmount(text)) : undefined) ?? accepted);
  }
  if (value === undefined) return refuse('it would be off', 'remove the entry to switch it off');
  if (value.kind === 'percentage' && !(value.fraction > 0 && value.fraction < 1)) return refuse('it is never met', accepted);
  return value;
}

/** A percentage with at most seven decimals: '40%', '12.5%'. Exact, in billionths of the wall time. */
function shareValue(signal: PressureSignal, text: string): Operand['value'] {
  const accepted = 'write the percentage of the wall time, from 0% to below 100% (40%, 12.5%)';
  const refuse = (why: string, hint = accepted): never => {
    throw new TextError('EVICTD_CONFIG_THRESHOLD', `${signal}: ${text === '' ? 'has no value' : JSON.stringify(text)}: ${why}`, hint);
  };
  const [, sign = '', whole = '', decimals = ''] = /^([+-]?)(\d{1,9})(?:\.(\d{1,7}))?\s*%$/.exec(text) ?? [];
  if (whole === '') return refuse('it is no percentage', /^[\d.]+$/.test(text) ? `did you mean ${text}%?` : accepted);
  const share = BigInt(whole) * (WHOLE_SHARE / 100n) + BigInt(decimals.padEnd(7, '0'));
  if (sign === '-' && share > 0n) return refuse('it is below 0%');
  if (share > WHOLE_SHARE) return refuse('it is above 100%');
  if (share === WHOLE_SHARE) return refuse('it is never met: more than all of the time is never lost');
  const quantity: Quantity = {
    text: `${whole.replace(/^0+(?=\d)/, '')}${decimals === '' ? '' : `.${decimals}`}%`,
    nano: share * 1_000_000_000n,
    format: 'DecimalSI',
  };
  return { kind: 'quantity', quantity };
}
