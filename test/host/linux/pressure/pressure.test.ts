import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { pressureSource } from '../../../../src/host/linux/pressure/pressure.js';

const SOME = [1.5, 2.25, 0.07, 123_456];
const FULL = [0, 0.5, 0.01, 1_234];
const LACKING = [NaN, NaN, NaN, NaN];
const read = (values: readonly number[], errno = 0) =>
  pressureSource('/proc/pressure/x').read(Float64Array.from(values), Int32Array.of(errno));

test('both lines are parsed, averages in percent and the total in microseconds', () => {
  expect(read([...SOME, ...FULL])).toEqual({
    some: { percent: { '.avg10': 1.5, '.avg60': 2.25, '.avg300': 0.07 }, totalUs: 123_456n },
    full: { percent: { '.avg10': 0, '.avg60': 0.5, '.avg300': 0.01 }, totalUs: 1_234n },
  });
});

test('a kernel without a full line for cpu has the some line', () => {
  const reading = read([...SOME, ...LACKING], constants.errno.ENODATA);
  expect(reading.some).toMatchObject({ totalUs: 123_456n });
  expect(reading.full).toEqual({ missing: '/proc/pressure/x has no line full' });
});

test.each(['ENOENT', 'EOPNOTSUPP'] as const)('a kernel without pressure (%s) gives a missing reading, not zero', (name) => {
  const reading = read([...LACKING, ...LACKING], constants.errno[name]);
  expect(reading.full).toEqual({ missing: expect.stringMatching(/this kernel does not measure pressure/) as string });
});
