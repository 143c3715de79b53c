import { expect, test } from 'vitest';
import { SelectorError, type AttributeValue } from '../../../src/core/devices/device.js';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import { compileSelector } from '../../../src/kubernetes/devices/device-selector.js';
import { device, slice } from '../../core/devices/claim-support.js';

const attributes: Record<string, AttributeValue> = {
  model: { kind: 'string', value: 'A100' },
  index: { kind: 'int', value: 4n },
  healthy: { kind: 'bool', value: true },
  driverVersion: { kind: 'version', value: '570.10.0-rc.2' },
  'other.example.com/numa': { kind: 'int', value: 1n },
};
const gpu = device('gpu-0', {
  attributes: new Map(Object.entries(attributes)),
  capacity: new Map([['memory', parseQuantity('40Gi')]]),
});
const published = { slice: slice([gpu]), device: gpu, id: 'gpu-0' };

function answer(expression: string): boolean | string {
  try {
    return compileSelector(expression)(published);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return `${error.stage}: ${error.message}`;
  }
}

const D = 'device.attributes["gpu.example.com"]';
const M = 'device.capacity["gpu.example.com"].memory';

test.each<[expression: string, answer: boolean]>([
  ['device.driver == "gpu.example.com"', true],
  [`${D}.model == "A100"`, true],
  [`${D}.index >= 4 && ${D}.healthy`, true],
  [`${D}.index == 5`, false],
  ['device.attributes["other.example.com"].numa == 1', true],
  [`has(${D}.model)`, true],
  [`has(${D}.serial)`, false],
  ['has(device.attributes["unknown.example.com"].model)', false],
  [`!has(${D}.serial) || ${D}.serial == "x"`, true],
  [`["model", "index"].all(k, k in ${D} && (has(${D}.model)))`, true],
  [`"model" in ${D}`, true],
  ['"unknown.example.com" in device.attributes', false],
  [`${D}.?serial.orValue("none") == "none"`, true],
  [`${D}[?"model"].orValue("none") == "A100"`, true],
  [`cel.bind(gpu, ${D}, gpu.model == "A100" && has(gpu.index))`, true],
  [`${D}.exists(k, k.startsWith("mod"))`, true],
  [`${D}.model in ["A100", "H100"]`, true],
  [`${D}.model.matches("^[AH]100(-SXM)?$")`, true],
  [`${D}.model.lowerAscii() == "a100"`, true],
  [`${M}.compareTo(quantity("40Gi")) == 0`, true],
  [`${M}.compareTo(quantity("40960Mi")) >= 0`, true],
  [`${M}.isGreaterThan(quantity("39.9Gi"))`, true],
  [`${M}.isLessThan(quantity("40Gi"))`, false],
  [`${M} == quantity("40960Mi")`, true],
  [`${M} != quantity("41Gi")`, true],
  [`${M}.sub(quantity("8Gi")) == quantity("32Gi")`, true],
  [`${M}.add(1).asInteger() == 42949672961`, true],
  ['quantity("500m").isInteger() || quantity("-1").sign() == -1', true],
  ['isQuantity("1Gi") && !isQuantity("1Gb")', true],
  [`${D}.driverVersion.isLessThan(semver("570.10.0"))`, true],
  [`${D}.driverVersion.compareTo(semver("570.10.0-rc.10")) < 0`, true],
  [`${D}.driverVersion == semver("570.10.0-rc.2+build")`, true],
  [`${D}.driverVersion.major() == 570 && ${D}.driverVersion.minor() == 10`, true],
  ['semver("v1.02", true) == semver("1.2.0") && !isSemver("1.02.0")', true],
  [`false && ${D}.serial == "x"`, false],
  [`${D}.serial == "x" || true`, true],
])('%s', (expression, expected) => {
  expect(answer(expression)).toBe(expected);
});

const many = JSON.stringify(Array.from({ length: 200 }, (_, index) => index));

test.each<[rule: string, expression: string, error: RegExp]>([
  ['an attribute that does not exist', `${D}.serial == "x"`, /^runtime: No such key: serial$/],
  ['a domain that does not exist is empty', 'device.attributes["unknown"].x == 1', /^runtime: No such key: x$/],
  ['types that do not compare', `${D}.model > 4`, /^runtime: no such overload: dyn<string> > int$/],
  ['an argument that is not a quantity', `${M}.isLessThan(quantity("1Gb"))`, /^runtime: quantities must match the regular expression/],
  ['a result that is not a bool', `${D}.model`, /^runtime: the result is not a bool but string$/],
  ['a result that cannot be a bool', '1 + 1', /^compile: compilation failed: must evaluate to bool or the unknown type, not int$/],
  ['a field that devices do not have', 'device.name == "gpu-0"', /^compile: compilation failed: No such key: name$/],
  ['a variable that does not exist', 'gpu.model == "A100"', /^compile: compilation failed: Unknown variable: gpu$/],
  ['a function that does not exist', 'ip("10.0.0.1") == ip("10.0.0.1")', /^compile: compilation failed: found no matching overload/],
  ['there is no expression', 'device.driver ==', /^compile: compilation failed: Unexpected token/],
  ['the expression is too long', `"${'x'.repeat(10_240)}" == ""`, /^compile: compilation failed: it has more than 10240 characters$/],
  [
    'loops in loops',
    `${many}.all(a, ${many}.all(b, ${many}.all(c, a + b + c >= 0)))`,
    /^compile: .*it may take \d+ steps on a device, more than the limit of 1000000$/,
  ],
  [
    'text that doubles',
    `cel.bind(a, "${'x'.repeat(1000)}", ${'cel.bind(a, a + a, '.repeat(12)}a == ""${')'.repeat(13)}`,
    /^compile: .*it may take \d+ steps/,
  ],
  ['a pattern that V8 cannot match in linear time', `${D}.model.matches("(A)\\\\1")`, /^runtime: .*Cannot be executed in linear time$/],
  [
    'a pattern that has another meaning in RE2',
    `${D}.model.matches("^[[:alpha:]]+$")`,
    /^runtime: matches\("\^\[\[:alpha:\]\]\+\$"\): this form is not supported$/,
  ],
])('%s', (_rule, expression, error) => {
  expect(answer(expression)).toMatch(error);
});

test('a regular expression that backtracks still has its answer', () => {
  const long = device('gpu-1', { attributes: new Map([['model', { kind: 'string', value: 'a'.repeat(64) }]]) });
  expect(compileSelector(`${D}.model.matches("^(a+)+$|b$")`)({ slice: slice([long]), device: long, id: 'gpu-1' })).toBe(true);
  expect(compileSelector(`${D}.model.matches("^(a+)+b$")`)({ slice: slice([long]), device: long, id: 'gpu-1' })).toBe(false);
});
