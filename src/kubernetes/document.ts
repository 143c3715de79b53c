import { DocumentError } from '../errors.js';
import { parseQuantity, QuantityError, type Quantity } from '../core/quantity/quantity.js';
import type { ResourceList } from '../core/workload/workload.js';
import { parseTime } from './timestamp.js';

/**
 * A value of a Kubernetes document and its path. Integers beyond 2^53 are bigints if the JSON was read by parseJson.
 */
export interface Field {
  readonly value: unknown;
  /** 'spec.containers[1].resources'; '' for the whole document. */
  readonly path: string;
}

export function documentOf(value: unknown): Field {
  return { value, path: '' };
}

/** Its path is made when it is asked for: almost never, and documents have millions of values. */
class Part implements Field {
  constructor(
    readonly value: unknown,
    readonly parent: Field,
    readonly key: string | number,
  ) {}

  get path(): string {
    const { path } = this.parent;
    if (typeof this.key === 'number') return `${path}[${String(this.key)}]`;
    if (!/^[\w-]+$/.test(this.key)) return `${path}[${JSON.stringify(this.key)}]`;
    return path === '' ? this.key : `${path}.${this.key}`;
  }
}

/** Absent or null, which the API treats alike. */
export function isAbsent({ value }: Field): boolean {
  return value === undefined || value === null;
}

/** A member of an object, or an absent field. Ignores unknown keys. */
export function member(field: Field, key: string): Field {
  return new Part(isAbsent(field) ? undefined : objectAt(field)[key], field, key);
}

/** The members of a map in written order; empty if absent. */
export function members(field: Field): readonly (readonly [key: string, field: Field])[] {
  return isAbsent(field) ? [] : Object.keys(objectAt(field)).map((key) => [key, member(field, key)]);
}

export function items(field: Field): readonly Field[] {
  if (isAbsent(field)) return [];
  if (!Array.isArray(field.value)) throw wrong(field, 'a list');
  return (field.value as readonly unknown[]).map((value, index) => new Part(value, field, index));
}

/** '' if absent, as in the API. */
export function textOf(field: Field): string {
  if (isAbsent(field)) return '';
  if (typeof field.value !== 'string') throw wrong(field, 'a text');
  return field.value;
}

/** undefined if absent. */
export function integerOf(field: Field, type: 'int32' | 'int64' | 'uint64'): bigint | undefined {
  if (isAbsent(field)) return undefined;
  const { value } = field;
  if (typeof value !== 'bigint' && !(typeof value === 'number' && Number.isInteger(value))) throw wrong(field, 'an integer');
  const integer = BigInt(value);
  if (integer !== cut(integer, type)) throw wrong(field, `an integer of type ${type}`);
  return integer;
}

function cut(integer: bigint, type: 'int32' | 'int64' | 'uint64'): bigint {
  switch (type) {
    case 'int32':
      return BigInt.asIntN(32, integer);
    case 'int64':
      return BigInt.asIntN(64, integer);
    case 'uint64':
      return BigInt.asUintN(64, integer);
  }
}

/** An amount as text or number, white space ignored. null is zero; undefined if absent. */
export function quantityOf(field: Field): Quantity | undefined {
  const { value } = field;
  if (value === undefined) return undefined;
  if (value !== null && typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    throw wrong(field, 'an amount such as "500m" or "1Gi"');
  try {
    return parseQuantity(value === null ? '0' : String(value).trim());
  } catch (cause) {
    if (!(cause instanceof QuantityError)) throw cause;
    throw new DocumentError(`${field.path}: ${shown(value)}: ${cause.message}`, { path: field.path, cause });
  }
}

export function resourceListOf(field: Field): ResourceList {
  return new Map(members(field).flatMap(([name, amount]) => entry(name, quantityOf(amount))));
}

function entry(name: string, quantity: Quantity | undefined): (readonly [string, Quantity])[] {
  return quantity === undefined ? [] : [[name, quantity]];
}

/** A time in ns since 1970; undefined if absent or the API's zero time. */
export function timeOf(field: Field): bigint | undefined {
  if (isAbsent(field)) return undefined;
  const time = typeof field.value === 'string' ? parseTime(field.value) : undefined;
  if (time === undefined) throw wrong(field, 'a time such as "2026-01-01T00:00:00Z"');
  return time.kind === 'zero' ? undefined : time.ns;
}

/** `field` is not `wanted`. */
export function wrong(field: Field, wanted: string): DocumentError {
  const where = field.path === '' ? 'the document' : field.path;
  const seen = field.value === undefined ? 'is missing' : `is ${shown(field.value)}`;
  return new DocumentError(`${where} ${seen}: ${wanted} is expected`, { path: field.path });
}

function objectAt(field: Field): Readonly<Record<string, unknown>> {
  const { value } = field;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(field, 'an object');
  return value as Readonly<Record<string, unknown>>;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
