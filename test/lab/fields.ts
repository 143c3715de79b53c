/** A line of the lab: `name=value` and so on, without spaces in a value. */
export type Fields = Readonly<Record<string, string>>;

/** Words without `=` are left out. A value of `-` is no value. */
export function fieldsOf(line: string): Fields {
  const pairs = [...line.matchAll(/(?<=^|\s)([^\s=]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== '-'));
}

/** A field without a value is written as `-`. */
export function lineOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value === undefined || value === '' ? '-' : String(value)}`)
    .join(' ');
}

/** undefined: the field has no value. Throws if it is no number. */
export function numberOf(fields: Fields, name: string): number | undefined {
  const text = fields[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isNaN(value)) throw new Error(`${name}=${text} is no number`);
  return value;
}
