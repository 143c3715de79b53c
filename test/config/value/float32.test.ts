import { expect, test } from 'vitest';
import { parseFloat32 } from '../../../src/config/value/float32.js';

test.each<[rule: string, text: string, value: number]>([
  ['whole', '10', 10],
  ['fraction without a leading zero', '.5', 0.5],
  ['no digits after the point', '5.', 5],
  ['exponent', '1e1', 10],
  ['negative exponent, sign', '-25E-1', -2.5],
  ['nearest 32 bit float', '0.1', 0.10000000149011612],
  ['hexadecimal', '0x1p3', 8],
  ['hexadecimal fraction', '0x.8p1', 1],
  ['underscores between digits', '1_0', 10],
  ['underscore after the prefix', '0x_1p3', 8],
  ['slightly above a tie there is one rounding, where two would round down', '1.00000005960464477540', 1.0000001192092896],
  ['a tie goes to even', '1.000000059604644775390625', 1],
  ['smallest subnormal', '1.401298464324817e-45', 2 ** -149],
  ['half of it, a tie, is zero', '7.00649232162408535461864791644958e-46', 0],
  ['a hair above half of it', '7.1e-46', 2 ** -149],
  ['far below anything', '1e-999999999999', 0],
  ['zero, however large the exponent', '0e999999999999', 0],
  ['largest', '3.4028234663852886e38', 3.4028234663852886e38],
  ['infinite by name', 'iNf', Infinity],
  ['negative infinity', '-infinity', -Infinity],
  ['NaN by name', 'NaN', NaN],
])('%s', (_rule, text, value) => {
  expect(parseFloat32(text)).toBe(value);
});

test.each(['', '.', 'e1', '1e', '1e+', '0x1', '0xp1', '1__0', '_1', '1_', '1_.5', '1._5', '+nan', ' 1', '1 ', '1,5', '１', '0b1'])(
  '%j is not a number',
  (text) => {
    expect(() => parseFloat32(text)).toThrow(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  },
);

test.each<[rule: string, text: string, quoted: string]>([
  ['quotes and backslashes', '"\\', '"\\"\\\\"'],
  ['control characters by name', '\t\n\u0007', '"\\t\\n\\a"'],
  ['control characters by number', '\u0000\u007f', '"\\x00\\x7f"'],
  ['letters and symbols of any script as they are', '１é€😀', '"１é€😀"'],
  ['a space that is not U+0020', '\u00a0\u3000', '"\\u00a0\\u3000"'],
  ['unprintable characters beyond 16 bits', '\u{e0001}', '"\\U000e0001"'],
])('a wrong number is quoted as in Go: %s', (_rule, text, quoted) => {
  expect(() => parseFloat32(text)).toThrow(`strconv.ParseFloat: parsing ${quoted}: invalid syntax`);
});

test.each(['3.4028236e38', '1e400', '-1e999999999999', '0x1p128'])('%s is out of range', (text) => {
  expect(() => parseFloat32(text)).toThrow('value out of range');
});
