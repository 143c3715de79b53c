import * as z from 'zod/mini';
import { evictdSchema } from './parse/schema.js';
import { SHAPES } from './value/json-shape.js';

/**
 * The JSON Schema (2020-12) of a configuration file, for editors: its keys, their types and their words. What it accepts
 * may still be wrong: amounts, durations and conditions are texts.
 */
export function configurationSchema(): object {
  return {
    ...z.toJSONSchema(evictdSchema, {
      io: 'input',
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
    }),
    title: 'EvictdConfiguration',
  };
}
