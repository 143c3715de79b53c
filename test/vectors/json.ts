export { isObject, parseJson, type Json, type JsonObject } from '../../src/kubernetes/json.js';

/** For people: bigints are printed as the number they stand for. */
export function printJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return value === undefined ? 'nothing' : JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${printJson(member)}`)
    .join(',')}}`;
}
