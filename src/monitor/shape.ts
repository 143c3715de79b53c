/** What is wrong with a value, by where it stands: 'evictions[0].phase'; undefined: nothing. */
export type Shape = (value: unknown, at: string) => string | undefined;

const ofType =
  (type: 'bigint' | 'number' | 'string' | 'boolean'): Shape =>
  (value, at) =>
    typeof value === type ? undefined : at;

export const INTEGER = ofType('bigint');
export const NUMBER = ofType('number');
export const TEXT = ofType('string');
export const FLAG = ofType('boolean');

export function oneOf(values: readonly unknown[]): Shape {
  return (value, at) => (values.includes(value) ? undefined : at);
}

export function optional(shape: Shape): Shape {
  return (value, at) => (value === undefined ? undefined : shape(value, at));
}

export function listOf(shape: Shape): Shape {
  return (value, at) => (Array.isArray(value) ? firstOf(value.map((item, index) => shape(item, `${at}[${String(index)}]`))) : at);
}

export function mapOf(key: Shape, item: Shape): Shape {
  return (value, at) => {
    if (!(value instanceof Map)) return at;
    return firstOf([...(value as ReadonlyMap<unknown, unknown>)].map(([own, its]) => key(own, at) ?? item(its, `${at}[${String(own)}]`)));
  };
}

/** With these fields, and any others. */
export function objectOf(fields: Readonly<Record<string, Shape>>): Shape {
  return (value, at) => {
    if (!isObject(value)) return at;
    return firstOf(Object.entries(fields).map(([name, shape]) => shape(value[name], at === '' ? name : `${at}.${name}`)));
  };
}

/** By its `kind`. */
export function kindOf(kinds: Readonly<Record<string, Shape>>): Shape {
  return (value, at) => {
    const kind = isObject(value) && typeof value.kind === 'string' ? value.kind : '';
    const shape = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    return shape ? shape(value, at) : at;
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map) && !(value instanceof Set);
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
