import { documentOf, type Field } from '../../src/kubernetes/document.js';
import { printJson } from './json.js';
import { VectorFormatError, type Check } from './vector.js';

/** Computes what a line of one kind expects, by the names of the expectations. */
export type KindCheck = (input: Field) => unknown;

/** The check of a file whose lines have `kind`, `input` and `expect`. Bigints equal the integers that they stand for. */
export function checkKinds(kinds: Readonly<Record<string, KindCheck>>): Check {
  return ({ line: { kind, input, expect } }) => {
    const check = typeof kind === 'string' ? kinds[kind] : undefined;
    if (check === undefined) throw new VectorFormatError(`"kind" must be one of ${Object.keys(kinds).join(', ')}`);
    if (expect === undefined) throw new VectorFormatError('"expect" is missing');
    const got = check(documentOf(input));
    return canonical(expect) === canonical(got) ? [] : [{ what: kind as string, expected: expect, got }];
  };
}

/** Keys sorted, what is undefined left out. */
function canonical(value: unknown): string {
  return printJson(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, member]) => [key, sorted(member)]));
}
