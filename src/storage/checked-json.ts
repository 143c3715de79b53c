import type * as z from 'zod/mini';

/** The value of a JSON text that evictd has written. Throws where it is no JSON, or not as the schema says. */
export function checkedJson<T>(text: string, schema: z.ZodMiniType<T>, path = 'it'): T {
  return checked(JSON.parse(text), schema, path);
}

/** Throws Error: '/run/evictd/a.json: pods.0: Invalid input'. */
export function checked<T>(value: unknown, schema: z.ZodMiniType<T>, path: string): T {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw new Error([path, ...(issue?.path.length ? [issue.path.join('.')] : []), issue?.message].join(': '));
}
