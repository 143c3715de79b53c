import { describe, expect, test } from 'vitest';
import { TextError } from '../../../src/config/value/value-text.js';
import { whenOperands } from '../../../src/config/resolve/listed-thresholds.js';
import { SIGNALS, WHOLE_SHARE } from '../../../src/core/signal/signal.js';
import { operandText, resolve } from '../../../src/core/threshold/threshold.js';

const texts = (text: string): string[] => whenOperands(text).map(operandText);

function errorOf(text: string): TextError {
  try {
    whenOperands(text);
  } catch (error) {
    if (error instanceof TextError) return error;
    throw error;
  }
  throw new Error('nothing was wrong');
}

test.each<[rule: string, text: string, operands: string[]]>([
  ['a text with one operand', 'memory.pressure.full>40%', ['memory.pressure.full>40%']],
  ['white space around every part', ' memory.available  <  10% ', ['memory.available<10%']],
  [
    'the operand for the short resource comes first',
    'io.pressure.full>40% & memory.available<10%',
    ['memory.available<10%', 'io.pressure.full>40%'],
  ],
  [
    'the first of two such operands comes first, so the condition is that of the disk',
    'cpu.pressure.some>1% & nodefs.available<10%&memory.available<10%',
    ['nodefs.available<10%', 'cpu.pressure.some>1%', 'memory.available<10%'],
  ],
  ['pressure of memory names it, too', 'memory.pressure.some>1%&memory.available<10%', ['memory.pressure.some>1%', 'memory.available<10%']],
  [
    'operands of io, cpu or swap stay as written',
    'swap.available<10% & io.pressure.some>5%',
    ['swap.available<10%', 'io.pressure.some>5%'],
  ],
  ['an average', 'memory.pressure.full.avg300>0.5%', ['memory.pressure.full.avg300>0.5%']],
  ['an amount', 'memory.kernelAvailable<1Gi', ['memory.kernelAvailable<1Gi']],
  ['pids', 'pid.available<1k', ['pid.available<1k']],
  ['pressure of any time', 'io.pressure.some>0%', ['io.pressure.some>0%']],
])('%s', (_rule, text, operands) => {
  expect(texts(text)).toEqual(operands);
});

test('every pressure signal is compared with >', () => {
  const pressure = SIGNALS.filter((signal) => signal.includes('.pressure.'));
  expect(pressure).toHaveLength(24);
  for (const signal of pressure) expect(texts(`${signal}>40%`)).toEqual([`${signal}>40%`]);
});

test.each<[text: string, billionths: bigint]>([
  ['40%', 400_000_000n],
  ['12.5%', 125_000_000n],
  ['57%', 570_000_000n],
  ['0%', 0n],
  ['0.0000001%', 1n],
  ['99.9999999%', 999_999_999n],
  ['33.3%', 333_000_000n],
])('%s of the wall time is parsed exactly', (text, billionths) => {
  expect(resolve(whenOperands(`cpu.pressure.some>${text}`)[0].value, WHOLE_SHARE)).toBe(billionths);
});

describe('a when: text that is refused has a hint', () => {
  test.each<[rule: string, text: string, code: string, message: RegExp, hint: RegExp]>([
    ['nothing', '  ', 'WHEN', /is empty/, /join operands/],
    ['an & with nothing behind it', 'memory.available<10% &', 'WHEN', /before or after &/, /join operands/],
    ['an & too many', 'memory.available<10% && io.pressure.some>1%', 'WHEN', /joined with one &/, /^like 'memory/],
    ['a word for it', 'memory.pressure.full>40% and memory.available<10%', 'WHEN', /joined with one &/, /^like 'memory/],
    ['the operator is missing', 'memory.pressure.full', 'WHEN', /has no operator/, /memory\.pressure\.full>VALUE/],
    ['the wrong operator of pressure', 'memory.pressure.full<40%', 'OPERATOR', /above its value/, /^write memory\.pressure\.full>40%$/],
    ['the wrong operator of an amount', 'memory.available>10%', 'OPERATOR', /below its value/, /^write memory\.available<10%$/],
    ['an unknown operator', 'memory.available<=10%', 'OPERATOR', /<= is not an operator/, /^write memory\.available<10%$/],
    ['a misspelt signal', 'memory.presure.full>40%', 'SIGNAL', /is not a signal/, /^did you mean memory\.pressure\.full\?$/],
    ['an unknown average', 'memory.pressure.full.avg30>40%', 'SIGNAL', /is not a signal/, /did you mean memory\.pressure\.full\.avg10\?/],
    ['a name that resembles no signal', 'load>3', 'SIGNAL', /is not a signal/, /docs\/config\.md/],
    ['an amount of pressure', 'memory.pressure.full>100Mi', 'THRESHOLD', /not a percentage/, /percentage of the wall time/],
    ['a number without %', 'memory.pressure.full>40', 'THRESHOLD', /not a percentage/, /^did you mean 40%\?$/],
    ['below 0%', 'memory.pressure.full>-1%', 'THRESHOLD', /below 0%/, /percentage of the wall time/],
    ['above 100%', 'memory.pressure.full>100.1%', 'THRESHOLD', /above 100%/, /percentage of the wall time/],
    ['100%, which no time exceeds', 'memory.pressure.full>100%', 'THRESHOLD', /never met/, /percentage of the wall time/],
    ['the value is missing', 'memory.pressure.full>', 'THRESHOLD', /has no value/, /percentage of the wall time/],
    ['a unit that Kubernetes does not know', 'memory.available<100MB', 'THRESHOLD', /memory\.available/, /did you mean 100M or 100Mi/],
    ['0% would disable it', 'memory.available<0%', 'THRESHOLD', /would be disabled/, /remove the entry/],
    ['100% would disable it', 'memory.available<100%', 'THRESHOLD', /would be disabled/, /remove the entry/],
    ['a percentage that is never below', 'memory.available<0.0%', 'THRESHOLD', /never met/, /percentage above 0/],
    ['a signal twice', 'memory.available<10% & memory.available<5%', 'WHEN', /occurs twice/, /all operands/],
    [
      'there are more operands than the maximum',
      Array.from({ length: 9 }, () => 'memory.available<10%').join('&'),
      'WHEN',
      /9 operands/,
      /several/,
    ],
  ])('%s', (_rule, text, code, message, hint) => {
    const error = errorOf(text);
    expect(error.code).toBe(`EVICTD_CONFIG_${code}`);
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
  });
});

test.each<[wrong: string, text: string, at: string]>([
  ['| of policies', 'memory.available<10% | pid.available<5%', '| pid'],
  ['or', 'memory.available<10% or pid.available<5%', 'or pid'],
  ['&&', 'memory.available<10% && pid.available<5%', '&& pid'],
  ['and', 'memory.available<10% and pid.available<5%', 'and pid'],
  ['there is no operand at the end', 'memory.available<10% &', '&'],
  ['there is no operand between two &', 'memory.available<10% & & pid.available<5%', '& & pid'],
  ['there is no operand at the start', '& pid.available<5%', '& pid'],
  ['a signal', 'memory.available<10% & pod.available<5%', 'pod'],
  ['an operator', 'memory.available<10% & pid.available >= 5%', '>= 5%'],
  ['the operator is missing', 'memory.available & pid.available<5%', ' & pid'],
  ['an amount', 'memory.available<10% & pid.available < five', 'five'],
  ['a percentage', 'memory.pressure.full > 40 & pid.available<5%', '40'],
  ['a signal twice', 'pid.available<5% &  pid.available<6%', 'pid.available<6%'],
])('the position of the error: %s', (_wrong, text, at) => {
  expect(text.slice(errorOf(text).offset ?? 0).startsWith(at)).toBe(true);
  expect(errorOf(text).offset).toBe(text.lastIndexOf(at));
});

test('the syntax of policies in when: has a message of its own', () => {
  const { message, hint } = errorOf('memory.available<10% | pid.available<5%');
  expect(message).toBe('| is for policies: a threshold joins its operands with & only');
  expect(hint).toMatch(/an entry of thresholds for each alternative, or one of policies/);
});
