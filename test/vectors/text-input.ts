import { isObject, type JsonObject } from './json.js';
import { VectorFormatError, type Vector } from './vector.js';

/** The lines of quantity and duration: a text, and what parsing it gives. */
export function textInput({ line }: Vector): { readonly input: string; readonly expect: JsonObject } {
  const { input, expect } = line;
  if (typeof input !== 'string') throw new VectorFormatError('"input" must be a text');
  if (!isObject(expect) || typeof expect.ok !== 'boolean') throw new VectorFormatError('"expect" must be an object with "ok"');
  return { input, expect };
}
