/** The message is that of Go's strconv.ParseFloat. */
export class FloatError extends Error {
  override readonly name = 'FloatError';
}

const DECIMAL = /^([+-]?)([0-9_]*)(?:\.([0-9_]*))?(?:e([+-]?[0-9][0-9_]*))?$/;
const HEXADECIMAL = /^([+-]?)0x([0-9a-f_]*)(?:\.([0-9a-f_]*))?p([+-]?[0-9][0-9_]*)$/;

/** A larger exponent makes a 32-bit float infinite or zero (2¹²⁸ has 39 digits, 2⁻¹⁵⁰ 45 leading zeros). */
const FAR = 400n;

/**
 * Parses a number as Go's strconv.ParseFloat(text, 32) does: decimal or hexadecimal, underscores between digits, `inf`
 * and `nan` in any case. Rounds once, half to even: `Math.fround(Number(text))` rounds twice and differs in the last
 * bit for some texts.
 *
 * @throws FloatError  invalid syntax, or beyond the largest 32 bit float
 */
export function parseFloat32(text: string): number {
  const lower = text.toLowerCase();
  if (/^[+-]?inf(inity)?$/.test(lower)) return lower.startsWith('-') ? -Infinity : Infinity;
  if (lower === 'nan') return NaN;
  const hexadecimal = HEXADECIMAL.exec(lower);
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = hexadecimal ?? DECIMAL.exec(lower) ?? [];
  const digits = withoutUnderscores(whole + fraction);
  if (digits === '' || !underscoresSeparate(lower)) throw new FloatError(`strconv.ParseFloat: parsing ${quote(text)}: invalid syntax`);
  const places = BigInt(withoutUnderscores(fraction).length);
  const exponent = BigInt(withoutUnderscores(exponentText).replace('+', ''));
  const magnitude = hexadecimal
    ? scaled(BigInt(`0x${digits}`), 2n, exponent - 4n * places, BigInt(digits.length) * 4n)
    : scaled(BigInt(digits), 10n, exponent - places, BigInt(digits.length));
  if (magnitude === Infinity) throw new FloatError(`strconv.ParseFloat: parsing ${quote(text)}: value out of range`);
  return sign === '-' ? -magnitude : magnitude;
}

/** mantissa × base^exponent as a 32 bit float; Infinity beyond its range. */
function scaled(mantissa: bigint, base: 2n | 10n, exponent: bigint, length: bigint): number {
  if (mantissa === 0n || exponent + length < -FAR) return 0;
  if (exponent > FAR) return Infinity;
  return exponent >= 0n ? rounded(mantissa * base ** exponent, 1n) : rounded(mantissa, base ** -exponent);
}

/** numerator ÷ denominator with 24 significant bits and a smallest step of 2⁻¹⁴⁹, half to even. */
function rounded(numerator: bigint, denominator: bigint): number {
  let exponent = Math.max(bits(numerator) - bits(denominator) - 24, -149);
  let quotient = roundedQuotient(numerator, denominator, exponent);
  if (bits(quotient) > 24) {
    exponent++;
    quotient = roundedQuotient(numerator, denominator, exponent);
  }
  const value = Number(quotient) * 2 ** exponent;
  return value >= 2 ** 128 ? Infinity : value;
}

function roundedQuotient(numerator: bigint, denominator: bigint, exponent: number): bigint {
  const dividend = exponent < 0 ? numerator << BigInt(-exponent) : numerator;
  const divisor = exponent < 0 ? denominator : denominator << BigInt(exponent);
  const quotient = dividend / divisor;
  const twiceRest = 2n * (dividend - quotient * divisor);
  const up = twiceRest > divisor || (twiceRest === divisor && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

function bits(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

function withoutUnderscores(text: string): string {
  return text.replaceAll('_', '');
}

/** Underscores only between digits, or between the base prefix and a digit (strconv, underscoreOK). */
function underscoresSeparate(text: string): boolean {
  const hexadecimal = /^[+-]?0x/.test(text);
  const body = text.replace(/^[+-]?(0x)?/, (prefix) => (prefix.endsWith('x') ? '0' : ''));
  const bad = hexadecimal ? /(^|[^0-9a-f])_|_([^0-9a-f]|$)/ : /(^|[^0-9])_|_([^0-9]|$)/;
  return !bad.test(body);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Quotes as Go's strconv.Quote does. */
function quote(text: string): string {
  return `"${Array.from(text, (char) => ESCAPES[char] ?? (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char) ? char : escaped(char))).join('')}"`;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code < 0x1_0000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
