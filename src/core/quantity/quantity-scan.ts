/** Not a quantity. The message is Kubernetes' own. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

/** The three parse errors of Kubernetes v1.36.2, apimachinery/pkg/api/resource. */
export const QUANTITY_PROBLEMS = {
  format: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  numeric: 'unable to parse numeric part of quantity',
  suffix: "unable to parse quantity's suffix",
} as const;

export interface ScannedQuantity {
  readonly negative: boolean;
  /** Digits before the point, without leading zeros; may be empty. */
  readonly whole: string;
  /** Digits after the point; may be empty, with or without a point. */
  readonly fraction: string;
  /** Whether any digit was written, zeros included. */
  readonly hasDigits: boolean;
  readonly suffix: string;
}

const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const SUFFIX_LETTERS = new Set(Array.from('eEinumkKMGTP', (letter) => letter.charCodeAt(0)));

/**
 * Splits a quantity in one pass, without backtracking: `[+-]? digits* (. digits*)? letters* [+-]? digits*`. Like
 * Kubernetes' scanner it accepts more than the expression in the message: `+`, `.` and `Mi` have no digits.
 *
 * @throws QuantityError if the text is empty or characters remain
 */
export function scanQuantity(text: string): ScannedQuantity {
  if (text === '') throw new QuantityError(QUANTITY_PROBLEMS.format);
  const numberStart = skipSign(text, 0);
  let at = numberStart;
  while (text.charCodeAt(at) === ZERO) at++;
  const wholeStart = at;
  at = skipDigits(text, at);
  const whole = text.slice(wholeStart, at);
  let hasDigits = at > numberStart;
  let fraction = '';
  if (text.charCodeAt(at) === POINT) {
    const fractionStart = at + 1;
    at = skipDigits(text, fractionStart);
    fraction = text.slice(fractionStart, at);
    hasDigits ||= fraction !== '';
  }
  const suffix = text.slice(at);
  while (SUFFIX_LETTERS.has(text.charCodeAt(at))) at++;
  if (skipDigits(text, skipSign(text, at)) !== text.length) throw new QuantityError(QUANTITY_PROBLEMS.format);
  return { negative: text.charCodeAt(0) === MINUS, whole, fraction, hasDigits, suffix };
}

function skipSign(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code === PLUS || code === MINUS ? at + 1 : at;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at++;
  return at;
}
