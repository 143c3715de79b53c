import * as z from 'zod/mini';
import { DESCRIPTIONS } from './descriptions.js';
import { defaultsOf } from './merge/defaults.js';
import { evictdSchema } from './parse/schema.js';
import { SHAPES } from './value/json-shape.js';

/** The parts of a JSON Schema that {@link configurationSchema} has. */
export interface JsonSchema {
  description?: string;
  default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: false | JsonSchema;
  readonly required?: readonly string[];
}

/**
 * The JSON Schema (2020-12) of a configuration file, for editors: its keys with descriptions and defaults, their types
 * and their words. What it accepts may still be wrong: amounts, durations and conditions are texts.
 */
export function configurationSchema(): JsonSchema {
  const schema = z.toJSONSchema(evictdSchema, {
    io: 'input',
    reused: 'inline',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const shape = SHAPES.get(zodSchema);
      if (shape === undefined) return;
      const { also, ...own } = shape;
      Object.assign(jsonSchema, own);
      if (also === undefined) return;
      const main = { ...jsonSchema };
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      jsonSchema.anyOf = [...also, main] as never;
    },
  });
  return { ...described(schema as JsonSchema, '', defaultsOf({ os: 'linux' }).value), title: 'EvictdConfiguration' } as JsonSchema;
}

/** The schema with the descriptions and defaults below `path`. @param preset  the default at `path` */
function described(schema: JsonSchema, path: string, preset: unknown): JsonSchema {
  const { anyOf, items, properties } = schema;
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const presetOf = (key: string): unknown => (preset as Readonly<Record<string, unknown>> | undefined)?.[key];
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map((one) => described(one, path, undefined)) }),
    ...(items && { items: described(items, `${path}[]`, undefined) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, value]) => {
          const description = DESCRIPTIONS[below(key)] ?? DESCRIPTIONS[`${path}.*`];
          const known = presetOf(key);
          const more = { ...(description !== undefined && { description }), ...(known !== undefined && { default: known }) };
          return [key, { ...described(value, below(key), known), ...more }];
        }),
      ),
    }),
  };
}
