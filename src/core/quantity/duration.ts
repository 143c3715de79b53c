export const NS_PER_US = 1_000n;
export const NS_PER_MS = 1_000_000n;
export const NS_PER_SECOND = 1_000_000_000n;
export const NS_PER_MINUTE = 60n * NS_PER_SECOND;
export const NS_PER_HOUR = 60n * NS_PER_MINUTE;

/** Not a duration. The message is that of Go's time.ParseDuration. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
}

const NS_PER_UNIT: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: NS_PER_US,
  '\u00b5s': NS_PER_US, // micro sign
  '\u03bcs': NS_PER_US, // Greek mu
  ms: NS_PER_MS,
  s: NS_PER_SECOND,
  m: NS_PER_MINUTE,
  h: NS_PER_HOUR,
};

const LIMIT = 2n ** 63n;

/** Digits, fraction, unit. The unit is everything up to the next digit or point. */
const TERM = /([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/y;

/**
 * Nanoseconds of a Go duration: `1h30m`, `1.5s`, `-5ms`, `0`. Grammar, rounding and range are those of
 * time.ParseDuration (Go 1.26): fractions of a nanosecond are cut off, the range is an int64.
 *
 * @throws DurationError with Go's message
 */
export function parseDuration(text: string): bigint {
  const invalid = (): DurationError => new DurationError(`time: invalid duration ${quote(text)}`);
  const isSigned = text.startsWith('-') || text.startsWith('+');
  const terms = isSigned ? text.slice(1) : text;
  if (terms === '0') return 0n;
  if (terms === '') throw invalid();
  let total = 0n;
  for (let at = 0; at < terms.length; at = TERM.lastIndex) {
    TERM.lastIndex = at;
    const [, digits = '', fraction = '', unit = ''] = TERM.exec(terms) ?? [];
    if (digits === '' && fraction === '') throw invalid();
    const whole = BigInt(digits === '' ? '0' : digits);
    if (whole > LIMIT) throw invalid();
    if (unit === '') throw new DurationError(`time: missing unit in duration ${quote(text)}`);
    const nsPerUnit = Object.hasOwn(NS_PER_UNIT, unit) ? NS_PER_UNIT[unit] : undefined;
    if (nsPerUnit === undefined) throw new DurationError(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    total += whole * nsPerUnit + fractionNs(fraction, nsPerUnit);
    if (total > LIMIT) throw invalid();
  }
  if (text.startsWith('-')) return -total;
  if (total === LIMIT) throw invalid();
  return total;
}

/**
 * Rounded down. Floats, in Go's order of operations: exact arithmetic would differ in the last nanosecond. Digits past
 * 2⁶³ are dropped.
 */
function fractionNs(fraction: string, nsPerUnit: bigint): bigint {
  let digits = 0n;
  let scale = 1;
  for (const digit of fraction) {
    if (digits > (LIMIT - 1n) / 10n) break;
    const longer = digits * 10n + BigInt(digit);
    if (longer > LIMIT) break;
    digits = longer;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(digits) * (Number(nsPerUnit) / scale)));
}

/** Quotes like Go's time package: control characters and non-ASCII characters as UTF-8 bytes. */
function quote(text: string): string {
  let quoted = '';
  for (const byte of new TextEncoder().encode(text)) {
    const char = String.fromCharCode(byte);
    if (byte >= 0x80 || byte < 0x20) quoted += `\\x${byte.toString(16).padStart(2, '0')}`;
    else quoted += char === '"' || char === '\\' ? `\\${char}` : char;
  }
  return `"${quoted}"`;
}

/**
 * A duration as Go prints it (Duration.String): `1h0m0.5s`, `1m30s`; below a second one unit: `1.5ms`, `7µs`. Zero is
 * `0s`.
 *
 * @param ns  any sign
 */
export function formatDuration(ns: bigint): string {
  if (ns < 0n) return `-${formatDuration(-ns)}`;
  if (ns === 0n) return '0s';
  if (ns < 1_000n) return `${String(ns)}ns`;
  if (ns < 1_000_000n) return `${decimal(ns, 3)}\u00b5s`;
  if (ns < 1_000_000_000n) return `${decimal(ns, 6)}ms`;
  const minutes = ns / 60_000_000_000n;
  const seconds = `${decimal(ns % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  const hours = minutes / 60n;
  return hours === 0n ? `${String(minutes)}m${seconds}` : `${String(hours)}h${String(minutes % 60n)}m${seconds}`;
}

/** The age in whole seconds: `12s ago`. */
export function formatAge(ns: bigint): string {
  return `${formatDuration(ns - (ns % 1_000_000_000n))} ago`;
}

/** `amount` ÷ 10^places, without trailing zeros. */
function decimal(amount: bigint, places: number): string {
  const digits = String(amount).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  const whole = digits.slice(0, -places);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
