import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

type Schema = Readonly<Record<string, unknown>>;

const DOCUMENT = parse(readFileSync('docs/openapi.yaml', 'utf8')) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** What of a value contradicts a schema of docs/openapi.yaml: a path and the reason each. A field without a schema contradicts. */
export function contradictions(name: string, value: unknown): string[] {
  return found(DOCUMENT.components.schemas[name] ?? { type: 'no such schema' }, value, name);
}

/** The operations that it has: 'GET /api/v1/status'. */
export function documentedOperations(): string[] {
  const { paths } = DOCUMENT as unknown as { readonly paths: Readonly<Record<string, Schema>> };
  return Object.entries(paths).flatMap(([path, operations]) => Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`));
}

function found(schema: Schema, value: unknown, at: string): string[] {
  const {
    $ref,
    oneOf,
    type,
    enum: values,
    required = [],
    properties = {},
    items,
    additionalProperties = false,
  } = schema as {
    $ref?: string;
    oneOf?: Schema[];
    type?: string | string[];
    enum?: unknown[];
    required?: string[];
    properties?: Record<string, Schema>;
    items?: Schema;
    additionalProperties?: boolean;
  };
  if ($ref !== undefined) return contradictions(/[^/]*$/.exec($ref)?.[0] ?? '', value).map((text) => `${at}: ${text}`);
  if (oneOf) {
    const each = oneOf.map((one) => found(one, value, at));
    return each.some(({ length }) => length === 0) ? [] : (each[0] ?? []);
  }
  if (![type].flat().some((one) => isOfType(one, value))) return [`${at}: ${JSON.stringify(value)} is not ${String(type)}`];
  if (values && !values.includes(value)) return [`${at}: ${String(value)} is none of ${values.join(', ')}`];
  if (Array.isArray(value)) return value.flatMap((item, index) => found(items ?? {}, item, `${at}[${String(index)}]`));
  if (typeof value !== 'object' || value === null) return [];
  return [
    ...required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${at}.${key} is missing`),
    ...Object.entries(value).flatMap(([key, field]) => {
      const own = properties[key];
      if (own === undefined && additionalProperties) return [];
      return own === undefined ? [`${at}.${key} is not documented`] : found(own, field, `${at}.${key}`);
    }),
  ];
}

function isOfType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
