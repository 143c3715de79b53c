import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';

import {
  compareQuantities,
  formatBytes,
  parseQuantity,
  QuantityError,
  quantityValue,
  type QuantityFormat,
} from '../../../src/core/quantity/quantity.js';
import { canonical, quantityMilli } from '../../vectors/kubelet/quantity-forms.js';

const FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC = 'unable to parse numeric part of quantity';
const SUFFIX = "unable to parse quantity's suffix";
const NANO = 1_000_000_000n;
const INT64_MAX = 2n ** 63n - 1n;

describe('the amount', () => {
  test.each<[rule: string, text: string, nano: bigint]>([
    ['n is the smallest unit', '1n', 1n],
    ['half a nano is rounded up', '0.5n', 1n],
    ['a trace is still something', '0.0000000000000000001n', 1n],
    ['negative: away from zero', '-0.1n', -1n],
    ['slightly more than a nano is rounded up', '1.0000000000001n', 2n],
    ['zeros after the point add nothing', '1.000n', 1n],
    ['binary fraction', '1.5Gi', 1610612736n * NANO],
    ['a binary fraction that is not a whole number', '1.01Ki', 1034240000000n],
    ['E alone is exa', '1E', 10n ** 27n],
    ['E with a number is a power of ten', '1E3', 1000n * NANO],
    ['e with a sign', '15e-1', 1500000000n],
    ['binary is capped at 2⁶³−1', '8Ei', INT64_MAX * NANO],
    ['just below the cap', '8191Pi', 8191n * 2n ** 50n * NANO],
    ['a fraction just above the cap', '9223372036854775807.1Ki', INT64_MAX * NANO],
    ['negative binary is capped, too', '-8Ei', -INT64_MAX * NANO],
    ['decimal is not capped', '9223372036854775808', 2n ** 63n * NANO],
    ['far beyond 64 bits', '123456789012345678901234567890', 123456789012345678901234567890n * NANO],
    ['an exponent beyond the table', '1e30', 10n ** 39n],
    ['a very small exponent', '1e-2147483647', 1n],
    ['an exponent is cut to 32 bits', '1e4294967298', 100n * NANO],
    ['the smallest of 64 bits leaves nothing of it', '1e-9223372036854775808', NANO],
    ['many digits against a small exponent', `${'9'.repeat(30)}e-30`, NANO],
    ['a number that is one digit shorter', `1${'0'.repeat(30)}e-39`, 1n],
    ['zero to any power', '0e9223372036854775807', 0n],
    ['the largest exponent', '1e4096', 10n ** 4105n],
  ])('%s: %s', (_rule, text, nano) => {
    expect(parseQuantity(text).nano).toBe(nano);
  });
});

describe('the text after parsing', () => {
  test.each<[rule: string, text: string, printed: string, format: QuantityFormat]>([
    ['canonical text stays as written', '100Mi', '100Mi', 'BinarySI'],
    ['a sign and leading zeros stay as written', '+001Gi', '+001Gi', 'BinarySI'],
    ['a trailing point stays as written', '1.Gi', '1.Gi', 'BinarySI'],
    ['a multiple of eight is rewritten', '+8Gi', '8Gi', 'BinarySI'],
    ['the last three digits tell, not two', '+108Gi', '+108Gi', 'BinarySI'],
    ['the last three digits count, not four', '+1008Gi', '1008Gi', 'BinarySI'],
    ['eleven digits of Ki stay as written', '+12345678901Ki', '+12345678901Ki', 'BinarySI'],
    ['twelve digits of Ki are rewritten', '+123456789011Ki', '123456789011Ki', 'BinarySI'],
    ['two digits of Ti stay as written', '+99Ti', '+99Ti', 'BinarySI'],
    ['three digits of Ti are rewritten', '+999Ti', '999Ti', 'BinarySI'],
    ['any Pi is rewritten', '+1Pi', '1Pi', 'BinarySI'],
    ['a binary fraction is rewritten', '1.25Gi', '1280Mi', 'BinarySI'],
    ['three decimals stay as written', '1.234k', '1.234k', 'DecimalSI'],
    ['two decimals are rewritten', '1.23k', '1230', 'DecimalSI'],
    ['a fraction that ends in three zeros is rewritten', '1.000k', '1k', 'DecimalSI'],
    ['18 digits stay as written', '+123456789012345678', '+123456789012345678', 'DecimalSI'],
    ['19 digits are rewritten', '+1234567890123456789', '1234567890123456789', 'DecimalSI'],
    ['nine decimals stay as written', '1.000000001', '1.000000001', 'DecimalSI'],
    ['an amount below a nano is rewritten', '1.000000000001', '1000000001n', 'DecimalSI'],
    ['a number without digits before the point is rewritten', '+.125', '125m', 'DecimalSI'],
    ['a number with zero before the point is rewritten', '0.125', '125m', 'DecimalSI'],
    ['zero is rewritten', '0Gi', '0', 'BinarySI'],
    ['an exponent stays as written', '12E6', '12E6', 'DecimalExponent'],
    ['an exponent that is not a multiple of three is rewritten', '12E7', '120e6', 'DecimalExponent'],
    ['an amount with a part of a byte is printed as decimal', '0.0001Ki', '102400u', 'DecimalSI'],
    ['a negative part, too', '-0.0001Ki', '-102400u', 'DecimalSI'],
    ['one byte stays binary', '0.0009765625Ki', '1', 'BinarySI'],
    ['a number without digits is zero', '+Mi', '0', 'BinarySI'],
    ['a sign alone is zero', '-', '0', 'DecimalSI'],
  ])('%s: %s → %s', (_rule, text, printed, format) => {
    expect(parseQuantity(text)).toMatchObject({ text: printed, format });
  });
});

describe('text that is not a quantity', () => {
  test.each<[rule: string, text: string, message: string]>([
    ['empty', '', FORMAT],
    ['a space before', ' 1', FORMAT],
    ['a space behind', '1 ', FORMAT],
    ['a newline behind', '1\n', FORMAT],
    ['there are two points', '1.2.3', FORMAT],
    ['a letter that no suffix has', '1GB', FORMAT],
    ['a letter after the exponent', '1e3k', FORMAT],
    ['the digits are not ASCII', '٣', FORMAT],
    ['percent', '10%', FORMAT],
    ['letters of suffixes in a wrong order', '1iM', SUFFIX],
    ['there are two suffixes', '1MiMi', SUFFIX],
    ['K without i', '1K', SUFFIX],
    ['a suffix and a number', '1Mi1', SUFFIX],
    ['a number after a sign', '1+3', SUFFIX],
    ['there are two signs', '--1', SUFFIX],
    ['e without a number', '1e', SUFFIX],
    ['e and a sign', '1e-', SUFFIX],
    ['e and no 64 bit integer', '1e9223372036854775808', SUFFIX],
    ['an exponent that would fill memory', '1e4097', SUFFIX],
    ['there are no digits, and the suffix is beyond the fast path', 'Pi', NUMERIC],
    ['a point is not a digit', '-.Ei', NUMERIC],
    ['there are no digits, and the exponent is beyond the fast path', 'e-10', NUMERIC],
  ])('%s: %j', (_rule, text, message) => {
    expect(() => parseQuantity(text)).toThrow(new QuantityError(message));
  });

  test('a number of only zeros is a quantity', () => {
    expect(parseQuantity('00Pi').nano).toBe(0n);
    expect(parseQuantity('.0Ei').nano).toBe(0n);
    expect(parseQuantity('e-9').nano).toBe(0n);
  });
});

describe('whole units and thousandths', () => {
  test.each<[rule: string, text: string, value: bigint, milli: bigint]>([
    ['exact', '1500m', 2n, 1500n],
    ['zero', '0', 0n, 0n],
    ['a trace of a thousandth is rounded up to one', '1n', 1n, 1n],
    ['a whole number is not rounded', '3', 3n, 3000n],
    ['negative: away from zero', '-1.0001', -2n, -1001n],
    ['beyond 64 bits: exact, no wrap', '9223372036854775808', 2n ** 63n, 2n ** 63n * 1000n],
  ])('%s: %s', (_rule, text, value, milli) => {
    const quantity = parseQuantity(text);
    expect([quantityValue(quantity), quantityMilli(quantity)]).toEqual([value, milli]);
  });
});

describe('bytes in messages', () => {
  test.each<[rule: string, bytes: bigint, text: string]>([
    ['zero', 0n, '0'],
    ['a suffix that fits', 2n ** 30n, '1Gi'],
    ['the largest that loses nothing', 1536n * 2n ** 20n, '1536Mi'],
    ['10 % of 8Gi', 858993472n, '858993472'],
    ['odd', 1025n, '1025'],
    ['decimal below 1024', 1000n, '1k'],
    ['1023', 1023n, '1023'],
    ['1024', 1024n, '1Ki'],
    ['negative', -1024n, '-1Ki'],
    ['negative below 1024', -1000n, '-1k'],
    ['the largest suffix', 7n * 2n ** 60n, '7Ei'],
    ['2⁶³−1', INT64_MAX, '9223372036854775807'],
  ])('%s: %d → %s', (_rule, bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

describe('the canonical form', () => {
  test.each<[rule: string, text: string, form: string]>([
    ['a value that the parser prints as written', '+007k', '7k'],
    ['an exponent', '12.5E3', '12500'],
    ['an amount below one', '15E-1', '1500e-3'],
    ['a binary amount that is not a whole number', '1.01Ki', '1034240m'],
    ['beyond E the suffix is lost, as in v1.36', '1000E', '1'],
    ['a negative exponent of zero is not printed', '1000e-3', '1'],
  ])('%s: %s → %s', (_rule, text, form) => {
    expect(canonical(parseQuantity(text))).toBe(form);
  });
});

describe('laws of quantities', () => {
  const number = fc.tuple(fc.constantFrom('', '-', '+'), fc.stringMatching(/^[0-9]{1,20}(\.[0-9]{0,12})?$/)).map((parts) => parts.join(''));
  const suffix = fc.oneof(
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'),
    fc.integer({ min: -30, max: 30 }).map((exponent) => `e${exponent}`),
  );
  const written = fc.tuple(number, suffix).map((parts) => parts.join(''));

  test('the printed text and the canonical form parse to the same amount', () => {
    fc.assert(
      fc.property(written, (text) => {
        const quantity = parseQuantity(text);
        // Beyond E the decimal form loses its suffix.
        fc.pre(quantity.format !== 'DecimalSI' || quantity.nano % 10n ** 30n !== 0n || quantity.nano === 0n);
        expect(parseQuantity(quantity.text).nano).toBe(quantity.nano);
        expect(parseQuantity(canonical(quantity)).nano).toBe(quantity.nano);
      }),
    );
  });

  test('the canonical form of a canonical form is itself', () => {
    fc.assert(
      fc.property(written, (text) => {
        const form = canonical(parseQuantity(text));
        expect(parseQuantity(form).text).toBe(form);
      }),
    );
  });

  test('a printed number of bytes parses to the same number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -INT64_MAX, max: INT64_MAX }), (bytes) => {
        expect(quantityValue(parseQuantity(formatBytes(bytes)))).toBe(bytes);
      }),
    );
  });

  test('quantities are ordered by their amounts', () => {
    fc.assert(
      fc.property(written, written, (a, b) => {
        const [left, right] = [parseQuantity(a), parseQuantity(b)];
        expect(Math.sign(compareQuantities(left, right))).toBe(left.nano < right.nano ? -1 : left.nano > right.nano ? 1 : 0);
      }),
    );
  });

  test('any text gives a quantity or a QuantityError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+.0-9eEinumkKMGTP]{0,12}$/)), (text) => {
        try {
          parseQuantity(text);
        } catch (error) {
          expect(error).toBeInstanceOf(QuantityError);
        }
      }),
    );
  });
});

test.each<[a: string, b: string, order: number]>([
  ['1Gi', '1024Mi', 0],
  ['1k', '1Ki', -1],
  ['1m', '-1', 1],
])('the comparison of %s with %s', (a, b, order) => {
  expect(compareQuantities(parseQuantity(a), parseQuantity(b))).toBe(order);
});
