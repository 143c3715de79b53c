import { isAlias, isMap, isPair, isScalar, isSeq, type Document, type Node, type Pair } from 'yaml';
import type { SourcePosition } from '../errors.js';
import { keyText, type KeyPath } from './key.js';
import type { Report } from './report.js';

/** Deeper than any configuration; a hundred thousand brackets would overflow the stack of what composes them. */
export const MAX_DEPTH = 32;
/** Values after aliases are followed: a few lines of anchors can stand for billions. */
const MAX_VALUES = 10_000;
/** Merge keys may name a map that merges itself. */
const MAX_MERGES = 100;

/** Turns nodes into plain values, following aliases and merge keys, and notes where each came from. */
export class ValueReader {
  /** Keys by their offset: through an alias a map is read several times. */
  readonly #twice = new Set<number | undefined>();
  readonly #places = new Map<string, { readonly key: number | undefined; readonly value: number | undefined }>();
  #values = 0;
  #merges = 0;

  constructor(
    private readonly document: Document.Parsed,
    private readonly position: (offset: number) => SourcePosition,
    private readonly report: Report,
  ) {}

  find(path: KeyPath, which: 'key' | 'value'): SourcePosition {
    for (let length = path.length; length >= 0; length--) {
      const place = this.#places.get(keyText(path.slice(0, length)));
      const offset = which === 'key' ? (place?.key ?? place?.value) : (place?.value ?? place?.key);
      if (offset !== undefined) return this.position(offset);
    }
    return this.position(0);
  }

  read(node: unknown, path: KeyPath, key: number | undefined): unknown {
    const offset = startOf(node);
    this.#places.set(keyText(path), { key, value: offset });
    if (++this.#values > MAX_VALUES || path.length > MAX_DEPTH) {
      if (this.#values !== Infinity) this.#issue('EVICTD_CONFIG_ALIASES', 'aliases multiply the values beyond reason', offset ?? key);
      this.#values = Infinity;
      return null;
    }
    if (isAlias(node)) {
      const target = node.resolve(this.document);
      if (target === undefined) this.#issue('EVICTD_CONFIG_SYNTAX', `no anchor &${node.source} before this alias`, offset);
      return target === undefined ? null : this.read(target, path, key);
    }
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, index], undefined));
    if (isMap(node)) return Object.fromEntries(this.#entries(node.items, path));
    return isScalar(node) ? plain(node.value, node.source) : null;
  }

  /** Merged entries first: a key of the map itself wins over one that is merged into it. */
  #entries(pairs: readonly Pair[], path: KeyPath): [string, unknown][] {
    const isMerge = ({ key }: Pair): boolean => isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
    const merged = pairs.filter(isMerge).flatMap((pair) => this.#merged(pair, path));
    const own = new Map<string, { readonly at: number | undefined; readonly value: unknown }>();
    for (const { key, value } of pairs.filter((pair) => !isMerge(pair))) {
      const at = startOf(key);
      if (!isScalar(key) || key.source === '__proto__') {
        this.#issue('EVICTD_CONFIG_SYNTAX', 'a key must be a plain text', at, 'remove it');
        continue;
      }
      const name = key.source ?? String(key.value);
      const read = this.read(value, [...path, name], at);
      const first = own.get(name);
      if (first) this.#reportTwice([...path, name], first.at, at);
      // Both maps together, so that what is wrong in either is told, too.
      own.set(name, { at: first ? first.at : at, value: isRecord(first?.value) && isRecord(read) ? { ...first.value, ...read } : read });
    }
    return [...merged, ...[...own].map(([name, { value }]): [string, unknown] => [name, value])];
  }

  #reportTwice(path: KeyPath, first: number | undefined, again: number | undefined): void {
    if (this.#twice.has(again)) return;
    this.#twice.add(again);
    const { line, column } = this.position(first ?? 0);
    const message = `${keyText(path)} stands twice, first at ${String(line)}:${String(column)}`;
    this.#issue('EVICTD_CONFIG_DUPLICATE_KEY', message, again, 'each key once per map; remove one of them');
  }

  #merged(pair: Pair, path: KeyPath): [string, unknown][] {
    if (++this.#merges > MAX_MERGES) {
      if (this.#merges === MAX_MERGES + 1)
        this.#issue('EVICTD_CONFIG_ALIASES', 'more merge keys than a configuration needs', startOf(pair.key));
      return [];
    }
    const target = isAlias(pair.value) ? pair.value.resolve(this.document) : pair.value;
    const sources = isSeq(target) ? target.items.toReversed() : [target];
    return sources.flatMap((source) => {
      const map = isAlias(source) ? source.resolve(this.document) : source;
      if (isMap(map)) return this.#entries(map.items.filter(isPair), path);
      this.#issue('EVICTD_CONFIG_SYNTAX', 'only maps can be merged', startOf(pair.key), 'write <<: *name of a map');
      return [];
    });
  }

  #issue(code: string, message: string, offset: number | undefined, hint?: string): void {
    this.report.issue(code, message, this.position(offset ?? 0), hint);
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

/** A number that a float cannot hold stays the text that was written. */
function plain(value: unknown, source: string | undefined): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)))) return value;
  return source ?? JSON.stringify(value);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as messages show it. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return isRecord(value) ? 'a map' : JSON.stringify(value);
}
