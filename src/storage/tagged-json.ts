/**
 * Keys that mark what JSON lacks: {"bigint":"5"}, {"map":[[1,2]]}, {"set":[1]}. A plain object that looks like one of
 * them is {"object":{…}}.
 */
const MARKS = ['bigint', 'map', 'set', 'object'] as const;
type Mark = (typeof MARKS)[number];

/** A value of the core as JSON, without loss: integers of any size, maps and sets. undefined is left out of objects. */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: value.toString() };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Map) return { map: [...(value as ReadonlyMap<unknown, unknown>)].map(([key, item]) => [toJson(key), toJson(item)]) };
  if (value instanceof Set) return { set: [...(value as ReadonlySet<unknown>)].map(toJson) };
  // Without a prototype: an assignment would set it for a key `__proto__`. No entries are made: this is on the path of an eviction.
  const plain = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value)) if (item !== undefined) plain[key] = toJson(item);
  return markOf(plain) === undefined ? plain : { object: plain };
}

/** @throws TypeError, SyntaxError  for what {@link toJson} does not write */
export function fromJson(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map(fromJson);
  const mark = markOf(json);
  if (mark === undefined) return unmarked(json);
  const inner = (json as Record<Mark, unknown>)[mark];
  switch (mark) {
    case 'bigint':
      if (typeof inner !== 'string') throw new TypeError('an integer is not text');
      return BigInt(inner);
    case 'map':
      return new Map(listOf(inner).map((pair) => listOf(fromJson(pair)) as [unknown, unknown]));
    case 'set':
      return new Set(listOf(inner).map(fromJson));
    case 'object':
      return unmarked(inner);
  }
}

function unmarked(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) throw new TypeError('not an object');
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, fromJson(item)]));
}

/** The key of an object with exactly one key, which is a mark. */
function markOf(object: object): Mark | undefined {
  const [key, ...others] = Object.keys(object);
  return others.length === 0 ? MARKS.find((mark) => mark === key) : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value;
}
