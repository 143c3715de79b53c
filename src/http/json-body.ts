import type * as z from 'zod/mini';
import { attempt } from '../errors.js';

/**
 * The body of a request, or what is wrong with it: 'it is not JSON', 'it has "dryrun"', 'kind is missing or has a wrong
 * value'.
 */
export function bodyAs<T>(
  body: string,
  schema: z.ZodMiniType<T>,
): { readonly data: T; readonly wrong?: undefined } | { readonly data?: undefined; readonly wrong: string } {
  const json = attempt((): unknown => JSON.parse(body));
  if (json === undefined) return { wrong: 'it is not JSON' };
  const { data, error } = schema.safeParse(json);
  return error === undefined ? { data } : { wrong: wrongIn(error.issues) };
}

function wrongIn([issue]: readonly z.core.$ZodIssue[]): string {
  const at = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.');
  if (issue?.code === 'unrecognized_keys') return `${at} has ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
  if (issue?.code === 'custom') return `${at}: ${issue.message}`;
  return at === 'it' ? 'it is not an object' : `${at} is missing or has a wrong value`;
}
