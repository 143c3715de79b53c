import { describe, expect, test } from 'vitest';
import type { LoadedConfig } from '../../../src/config/config.js';
import { loadWritten } from '../../../src/config/load.js';
import { errorOf, issuesOf, load } from '../scratch.js';

const read = (text: string): LoadedConfig => load({ 'config.yaml': text });

describe('a number where a text is expected is the text as it is written', () => {
  const NUMBERS = ['2', '2.0', '1.10', '007', '0x10', '0o17', '1e5', '+5', '-0', '.5', '5.', '12345678901234567890'];

  test.each(NUMBERS)('in match of a rule: %s', (number) => {
    const { config, written } = read(`rules: [{ match: { name: ${number}, labels: { version: ${number} } }, critical: true }]`);
    expect(config.rules[0]?.match).toEqual({ name: number, labels: { version: number } });
    const again = loadWritten(JSON.parse(JSON.stringify(written)) as typeof written, {});
    expect(again.config.rules[0]?.match).toEqual({ name: number, labels: { version: number } });
  });

  test('through an alias and a merge key', () => {
    const { config } = read(
      'rules: [{ match: { labels: &v { a: &n 1.10 } }, critical: true }, { match: { labels: { <<: *v, b: *n } }, critical: true }]',
    );
    expect(config.rules.map(({ match }) => match.labels)).toEqual([{ a: '1.10' }, { a: '1.10', b: '1.10' }]);
  });

  test('in JSON', () => {
    const { config } = read('{"rules": [{"match": {"labels": {"version": 2.0}}, "critical": true}]}');
    expect(config.rules[0]?.match.labels).toEqual({ version: '2.0' });
  });

  test.each<[place: string, text: string, seen: (loaded: LoadedConfig) => unknown, value: unknown]>([
    [
      'match of a disruption budget',
      'disruptionBudgets: [{ name: web, match: { labels: { version: 2.0 } }, maxUnavailable: 1 }]',
      ({ config }) => config.disruptionBudgets[0]?.match.labels,
      { version: '2.0' },
    ],
    [
      'a toleration',
      'rules: [{ match: {}, tolerations: [{ key: 1.0, operator: Equal, value: 007, effect: NoExecute }] }]',
      ({ config }) => config.rules[0]?.tolerations,
      [expect.objectContaining({ key: '1.0', value: '007' })],
    ],
    [
      'the arguments of a hook',
      'hooks: { postEvict: { command: [/bin/true, 1.10, 0x10] } }',
      ({ config }) => config.hooks.postEvict,
      expect.objectContaining({ argv: ['/bin/true', '1.10', '0x10'] }),
    ],
    [
      'the arguments of a reclaim step',
      'reclaim: [{ step: command, name: a, signals: [nodefs.available], command: [/bin/true, 1.10] }]',
      ({ config }) => config.reclaim[0],
      expect.objectContaining({ command: ['/bin/true', '1.10'] }),
    ],
    [
      'the arguments of the step run',
      'policies: [{ name: a, when: memory.available < 5%, then: [{ run: [/bin/true, 1e5] }] }]',
      ({ config }) => config.policies[0]?.then,
      [expect.objectContaining({ command: ['/bin/true', '1e5'] })],
    ],
  ])('in %s', (_place, text, seen, value) => {
    expect(seen(read(text))).toEqual(value);
  });
});

test.each(['16', '0x10', '0o20', '16.0', '1.6e1', '+16', '016'])('a key that expects a number takes %s as before', (number) => {
  expect(read(`rules: [{ match: {}, priority: ${number} }]`).config.rules[0]?.priority).toBe(16);
  const budget = `disruptionBudgets: [{ name: web, match: {}, maxUnavailable: ${number}, expected: ${number} }]`;
  expect(read(budget).config.disruptionBudgets[0]).toMatchObject({ limit: { value: 16, isPercentage: false }, expected: 16 });
});

test.each(['16', '16.0', '1.6e1', '+16', '016'])('an amount takes %s as before', (number) => {
  const { config } = read(`rules: [{ match: {}, requests: { memory: ${number} } }]`);
  expect(config.rules[0]?.requestsMemory).toBe(16n);
});

test('an amount has no base but 10', () => {
  expect(issuesOf(() => read('evictionHard: { pid.available: 0x10 }'))).toEqual(['config.yaml:1:32 EVICTD_CONFIG_THRESHOLD']);
});

test('a key that expects a whole number refuses 1.50 as the number that it is', () => {
  const error = errorOf(() => read('rules: [{ match: {}, priority: 1.50 }]'));
  expect(error.issues.map(({ message }) => message)).toEqual(['rules[0].priority: expected a whole number, got 1.5']);
});

test.each(['', 'null', '~', 'true', 'False'])('a label %j is refused: without it the rule would match more workloads', (value) => {
  const text = `rules:\n  - match:\n      labels:\n        app: web\n        version: ${value}\n    critical: false\n`;
  expect(issuesOf(() => read(text))).toEqual(['config.yaml:5:18 EVICTD_CONFIG_TYPE']);
  expect(errorOf(() => read(text)).issues[0]?.hint).toBe('put it in quotes if it is text');
});
