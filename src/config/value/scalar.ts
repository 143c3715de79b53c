import * as z from 'zod/mini';
import { describe, writtenNumber } from './document.js';
import { shaped } from './json-shape.js';
import { TextError } from './value-text.js';
import { NS_PER_SECOND } from '../../core/quantity/duration.js';

// Before any schema is made. Generated validators pay off after thousands of documents; evictd reads a few.
z.config({ jitless: true });

export const MAX_INT32 = 2 ** 31 - 1;

type Payload = Parameters<Parameters<typeof z.transform>[0]>[1];

/** Reports an invalid value at `path` below it. zod-issue.ts reads the code and the hint from zod's params. */
export function refuse(payload: Payload, input: unknown, code: string, message: string, hint: string, path: readonly string[] = []): never {
  payload.issues.push({ code: 'custom', message, input, params: { code, hint }, path: [...path] });
  return z.NEVER;
}

/** The same, at a character of a text, and more than once. */
export function refuseAt(
  payload: Payload,
  input: unknown,
  code: string,
  message: string,
  hint: string,
  path: readonly (string | number)[],
  offset?: number,
): void {
  payload.issues.push({ code: 'custom', message, input, params: { code, hint, offset }, path: [...path] });
}

/** Text, or a number as it is written: `pid.available: 1000` is text in the kubelet. */
export function textOf(input: unknown, payload: Payload): string {
  if (typeof input === 'string') return input;
  if (typeof input === 'number') return String(input);
  if (input === undefined) return refuse(payload, input, 'EVICTD_CONFIG_MISSING', 'is missing', 'give it a value');
  const isText = typeof input !== 'object' || input === null;
  const hint = isText ? 'put it in quotes if it is text' : 'write the text itself, with no key or item below it';
  return refuse(payload, input, 'EVICTD_CONFIG_TYPE', `expected a text, got ${describe(input)}`, hint);
}

export const text = shaped(z.transform(textOf), { type: ['string', 'number'] });

/** A text that `parse` accepts, or refuses with a TextError. */
export function parsed<T>(parse: (text: string) => T) {
  const read = z.pipe(
    text,
    z.transform((input: string, payload) => {
      try {
        return parse(input);
      } catch (error) {
        if (!(error instanceof TextError)) throw error;
        refuseAt(payload, input, error.code, error.message, error.hint, [], error.offset);
        return z.NEVER;
      }
    }),
  );
  return shaped(read, { type: ['string', 'number'] });
}

export function integer(least: number, most: number) {
  const read = z.transform((written: unknown, payload) => {
    const input = writtenNumber(written);
    const accepted = `a whole number from ${String(least)} to ${String(most)}, without quotes`;
    if (typeof input !== 'number' || !Number.isInteger(input)) {
      return refuse(payload, input, 'EVICTD_CONFIG_TYPE', `expected a whole number, got ${describe(input)}`, accepted);
    }
    if (input < least || input > most) return refuse(payload, input, 'EVICTD_CONFIG_RANGE', `out of range: ${String(input)}`, accepted);
    return input;
  });
  return shaped(read, { type: 'integer', minimum: least, maximum: most });
}

const wholeSeconds = (least: number) =>
  shaped(
    z.pipe(
      integer(least, MAX_INT32),
      z.transform((input: number) => BigInt(input) * NS_PER_SECOND),
    ),
    { type: 'integer', minimum: least, maximum: MAX_INT32 },
  );

export const seconds = wholeSeconds(0);
/** Whole seconds that may be below 0, with a meaning of its own. */
export const signedSeconds = wholeSeconds(-MAX_INT32 - 1);

const readFlag = z.transform((input: unknown, payload) => {
  if (typeof input === 'boolean') return input;
  return refuse(
    payload,
    input,
    'EVICTD_CONFIG_TYPE',
    `expected true or false, got ${describe(input)}`,
    'write true or false, without quotes',
  );
});

export const flag = shaped(readFlag, { type: 'boolean' });

export const pattern = parsed((input) => {
  if (input !== '') return input;
  throw new TextError('EVICTD_CONFIG_VALUE', 'is empty and matches nothing', 'write a name, * for any, or remove the key');
});
