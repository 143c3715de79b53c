import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { DEPARTURES } from '../../src/core/decide/departures.js';
import { DESCRIPTIONS } from '../../src/config/descriptions.js';
import { configurationSchema, type JsonSchema } from '../../src/config/json-schema.js';

const SCHEMA: JsonSchema = configurationSchema();

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

/** The paths of the values that the schema refuses. */
function faults(schema: JsonSchema, value: unknown, path: string): string[] {
  const { type, anyOf, items, properties, additionalProperties, required = [] } = schema;
  if (anyOf !== undefined) return anyOf.some((one) => faults(one, value, path).length === 0) ? [] : [path];
  const seen = typeOf(value);
  const isInteger = type === 'integer' && Number.isInteger(value);
  const types = typeof type === 'string' ? [type] : type;
  if (types !== undefined && !types.includes(seen) && !isInteger) return [path];
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) return [path];
  if (typeof value === 'number' && (value < (schema.minimum ?? value) || value > (schema.maximum ?? value))) return [path];
  if (Array.isArray(value))
    return items === undefined ? [] : value.flatMap((item, index) => faults(items, item, `${path}[${String(index)}]`));
  if (seen !== 'object') return [];
  const keys = Object.entries(value as Record<string, unknown>);
  return [
    ...required.filter((key) => !keys.some(([written]) => written === key)).map((key) => `${path}.${key}`),
    ...keys.flatMap(([key, inner]) => {
      const below = properties?.[key] ?? additionalProperties;
      if (below === false) return [`${path}.${key}`];
      return below === undefined ? [] : faults(below, inner, `${path}.${key}`);
    }),
  ];
}

const examples = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) =>
    [...readFileSync(join('docs', name), 'utf8').matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, text = '']) => [name, text] as const),
  )
  .filter(([, text]) => !text.startsWith('groups:') && !text.includes('KubeletConfiguration'));

test('every example of the documentation is accepted', () => {
  expect(examples.length).toBeGreaterThan(10);
  expect(examples.flatMap(([name, text]) => faults(SCHEMA, parse(text), name))).toEqual([]);
});

test.each<[wrong: string, yaml: string, fault: string]>([
  ['an unknown key', 'evictionHrad: {}', '.evictionHrad'],
  ['an unknown key of a step', 'policies: [{name: a, when: x, then: [{freeze: {during: 5s}}]}]', '.policies[0].then[0]'],
  ['an unknown step', 'policies: [{name: a, when: x, then: [notfy]}]', '.policies[0].then[0]'],
  ['a step without its settings', 'policies: [{name: a, when: x, then: [reclaim]}]', '.policies[0].then[0]'],
  ['an unknown comparator', 'policies: [{name: a, when: x, then: [{kill: {by: sise}}]}]', '.policies[0].then[0]'],
  ['a policy without a ladder', 'policies: [{name: a, when: x}]', '.policies[0].then'],
  ['a list for a text', 'pressureWindow: [2s]', '.pressureWindow'],
  ['a text for a number', 'journal: {maxFiles: five}', '.journal.maxFiles'],
  ['a number out of range', 'journal: {maxFiles: 1}', '.journal.maxFiles'],
  ['a text for true', 'mergeDefaultEvictionSettings: "yes"', '.mergeDefaultEvictionSettings'],
  ['an unknown word', 'oomScoreAdj: on', '.oomScoreAdj'],
  ['a map for an amount', 'evictionHard: {memory.available: {}}', '.evictionHard.memory.available'],
])('the schema refuses %s', (_wrong, yaml, fault) => {
  expect(faults(SCHEMA, parse(yaml), '')).toEqual([fault]);
});

test('every key of the schema has a type', () => {
  const untyped = (schema: JsonSchema, path: string): string[] => {
    const { type, anyOf, items, properties = {}, additionalProperties } = schema;
    const below: [string, JsonSchema][] = Object.entries(properties);
    if (items !== undefined) below.push(['items', items]);
    if (typeof additionalProperties === 'object') below.push(['*', additionalProperties]);
    for (const [index, one] of (anyOf ?? []).entries()) below.push([String(index), one]);
    return [...(type === undefined && anyOf === undefined ? [path] : []), ...below.flatMap(([key, one]) => untyped(one, `${path}.${key}`))];
  };
  expect(untyped(SCHEMA, '')).toEqual([]);
});

test('every key has a description, and every description has a key', () => {
  const described = new Set<string>();
  const undescribed = (schema: JsonSchema, path: string): string[] => [
    ...(schema.anyOf ?? []).flatMap((one) => undescribed(one, path)),
    ...(schema.items ? undescribed(schema.items, `${path}[]`) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
      const at = path === '' ? key : `${path}.${key}`;
      described.add(at).add(`${path}.*`);
      return [...(value.description === undefined ? [at] : []), ...undescribed(value, at)];
    }),
  ];
  expect(undescribed(SCHEMA, '')).toEqual([]);
  expect(Object.keys(DESCRIPTIONS).filter((path) => !described.has(path))).toEqual([]);
});

test('each departure from the kubelet has a description', () => {
  const departures = Object.values(SCHEMA.properties?.departures?.properties ?? {});
  expect(new Set(departures.map(({ description }) => description)).size).toBe(DEPARTURES.length);
});

test('the schema shows the description and the default with the key', () => {
  const { log, evictionHard, rules } = SCHEMA.properties ?? {};
  expect(log?.properties?.level).toMatchObject({
    description: 'Least level of a line.',
    default: 'info',
    enum: ['debug', 'info', 'warn', 'error'],
  });
  expect(evictionHard?.default).toMatchObject({ 'memory.available': '100Mi' });
  expect(rules?.items?.properties?.priority).toMatchObject({ type: 'integer', description: expect.stringContaining('lowest') as string });
  expect(rules?.items?.properties?.priority).not.toHaveProperty('default');
});
