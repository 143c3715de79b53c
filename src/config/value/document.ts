import {
  Composer,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  type CST,
  type Document,
  type Node,
  type Pair,
  type Scalar,
} from 'yaml';
import type { SourcePosition } from '../../errors.js';
import { offsetWithin } from './text-offset.js';
import { keyText, type KeyPath, type Report } from './report.js';

/** Where the values of a document are. */
export interface Positions {
  /** The value's position; if there is no value, that of the key or of the nearest parent. */
  readonly at: (path: KeyPath) => SourcePosition;
  readonly keyAt: (path: KeyPath) => SourcePosition;
  /** The position of a character of a text, in UTF-16 units from its start. Left out: the document has no source. */
  readonly within?: (path: KeyPath, offset: number) => SourcePosition;
}

/** An item of a list that is merged over files. */
export interface ListItem<T> {
  readonly value: T;
  readonly layer: Positions;
  readonly path: KeyPath;
}

/** One source of settings as plain values. */
export interface SettingsDocument extends Positions {
  /** Maps as objects, lists, strings, numbers, booleans, null. Some numbers stay the text: see {@link Numbers}. */
  readonly value: unknown;
}

/**
 * What becomes of a number that is not written as JavaScript writes it (`2.0`, `007`, `0x10`, `1e5`). 'as-written': it
 * stays the text, because the label `2.0` is not `2`. A number that a float cannot hold is always the text.
 */
export type Numbers = 'as-written' | 'as-numbers';

/**
 * Reads YAML 1.2 with merge keys (`<<`). Undefined: invalid, with all issues in the report. Duplicate keys are reported
 * and the rest is read. An empty file is an empty map.
 *
 * @param mayRepeat  a duplicate key at this path of the value is a warning
 */
export function readDocument(
  file: string,
  text: string,
  report: Report,
  numbers: Numbers = 'as-written',
  mayRepeat: (value: unknown, path: KeyPath) => boolean = () => false,
): SettingsDocument | undefined {
  const lines = new LineCounter();
  const position = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = deeperThan(tokens, MAX_DEPTH);
  if (tooDeep !== undefined) {
    report.issue(
      'EVICTD_CONFIG_SYNTAX',
      `nested deeper than ${String(MAX_DEPTH)} levels`,
      position(tooDeep),
      'a configuration needs at most five',
    );
    return undefined;
  }
  // ValueReader finds duplicate keys: it knows their names and reads on.
  const documents = [...new Composer({ merge: true, uniqueKeys: false, logLevel: 'silent' }).compose(tokens)];
  const before = report.issues.length;
  for (const problem of documents.flatMap((document) => [...document.errors, ...document.warnings])) {
    report.issue('EVICTD_CONFIG_SYNTAX', problem.message, position(problem.pos[0]), syntaxHint(problem.code));
  }
  const [document, ...others] = documents;
  // `---` at the end begins an empty one.
  const second = others.find(({ contents }) => contents !== null && !(isScalar(contents) && contents.source === ''));
  if (second !== undefined) {
    const start = position(second.range[0]);
    report.issue('EVICTD_CONFIG_DOCUMENTS', 'second YAML document in this file', start, 'move it to a drop-in: one document per file');
  }
  if (report.issues.length > before) return undefined;
  if (document === undefined || document.contents === null) return { value: {}, at: () => ({ file }), keyAt: () => ({ file }) };
  const reader = new ValueReader(document, position, report, numbers);
  const within = (path: KeyPath, offset: number): SourcePosition => {
    const node = reader.scalarAt(path);
    return node === undefined ? reader.find(path, 'value') : position(offsetWithin(text, node, offset));
  };
  const value = reader.read(document.contents, [], undefined);
  for (const { path, message, at } of reader.duplicates) {
    if (mayRepeat(value, path)) report.notice('warn', DUPLICATE, message, { hint: ONE_OF_THEM, position: position(at) });
    else report.issue(DUPLICATE, message, position(at), ONE_OF_THEM);
  }
  if (report.issues.slice(before).some(({ code }) => code !== DUPLICATE)) return undefined;
  return { value, at: (path) => reader.find(path, 'value'), keyAt: (path) => reader.find(path, 'key'), within };
}

const DUPLICATE = 'EVICTD_CONFIG_DUPLICATE_KEY';
const ONE_OF_THEM = 'remove one of them';

function syntaxHint(code: string): string | undefined {
  if (code === 'TAB_AS_INDENT') return 'indent with spaces';
  if (code === 'TAG_RESOLVE_FAILED') return 'remove the tag (!name), or put a text that begins with ! in quotes';
  return undefined;
}

/** Offset of the first token nested deeper than `limit`. Iterative: recursion would overflow the stack. */
function deeperThan(tokens: readonly CST.Token[], limit: number): number | undefined {
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > limit) return 'offset' in token ? token.offset : 0;
    if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const { key, value } of token.items) {
      if (key) open.push({ token: key, depth: depth + 1 });
      if (value !== undefined) open.push({ token: value, depth: depth + 1 });
    }
  }
  return undefined;
}

/** Limits the recursion of the YAML composer. */
const MAX_DEPTH = 32;
/** The limit after aliases are resolved: a few lines of anchors can expand to billions of values. */
const MAX_VALUES = 10_000;
/** A map may merge itself. */
const MAX_MERGES = 100;

/** Turns nodes into plain values, resolves aliases and merge keys, and records positions. */
class ValueReader {
  readonly #duplicates = new Map<number, { readonly path: KeyPath; readonly message: string }>();
  readonly #places = new Map<string, { readonly key: number | undefined; readonly value: number | undefined }>();
  readonly #scalars = new Map<string, Scalar>();
  #values = 0;
  #merges = 0;

  constructor(
    private readonly document: Document.Parsed,
    private readonly position: (offset: number) => SourcePosition,
    private readonly report: Report,
    private readonly numbers: Numbers,
  ) {}

  find(path: KeyPath, which: 'key' | 'value'): SourcePosition {
    for (let length = path.length; length >= 0; length--) {
      const place = this.#places.get(keyText(path.slice(0, length)));
      const offset = which === 'key' ? (place?.key ?? place?.value) : (place?.value ?? place?.key);
      if (offset !== undefined) return this.position(offset);
    }
    return this.position(0);
  }

  scalarAt(path: KeyPath): Scalar | undefined {
    return this.#scalars.get(keyText(path));
  }

  read(node: unknown, path: KeyPath, key: number | undefined): unknown {
    const offset = startOf(node);
    if (isScalar(node)) this.#scalars.set(keyText(path), node);
    this.#places.set(keyText(path), { key, value: offset });
    if (++this.#values > MAX_VALUES || path.length > MAX_DEPTH) {
      if (this.#values !== Infinity)
        this.#issue('EVICTD_CONFIG_ALIASES', `aliases expand to more than ${String(MAX_VALUES)} values`, offset ?? key);
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
    return isScalar(node) ? plain(node.value, node.source, this.numbers) : null;
  }

  /** Merged entries first: a key of the map itself wins. */
  #entries(pairs: readonly Pair[], path: KeyPath): [string, unknown][] {
    const isMerge = ({ key }: Pair): boolean => isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
    const merged = pairs.filter(isMerge).flatMap((pair) => this.#merged(pair, path));
    const own = new Map<string, { readonly at: number | undefined; readonly value: unknown }>();
    for (const { key, value } of pairs.filter((pair) => !isMerge(pair))) {
      const at = startOf(key);
      if (!isScalar(key) || key.source === '__proto__') {
        this.#issue('EVICTD_CONFIG_SYNTAX', 'a key must be plain text', at, 'remove it');
        continue;
      }
      const name = key.source ?? String(key.value);
      const read = this.read(value, [...path, name], at);
      const first = own.get(name);
      if (first) this.#noteDuplicate([...path, name], first.at, at);
      // Merges both maps, so that issues in either are reported.
      own.set(name, { at: first ? first.at : at, value: isRecord(first?.value) && isRecord(read) ? { ...first.value, ...read } : read });
    }
    return [...merged, ...[...own].map(([name, { value }]): [string, unknown] => [name, value])];
  }

  /** Keys that stand twice in a map, each once: through an alias a map is read several times. */
  get duplicates(): readonly { readonly path: KeyPath; readonly message: string; readonly at: number }[] {
    return [...this.#duplicates].map(([at, duplicate]) => ({ at, ...duplicate }));
  }

  #noteDuplicate(path: KeyPath, first = 0, again = 0): void {
    if (this.#duplicates.has(again)) return;
    const { line, column } = this.position(first);
    this.#duplicates.set(again, { path, message: `duplicate key ${keyText(path)}, first at ${String(line)}:${String(column)}` });
  }

  #merged(pair: Pair, path: KeyPath): [string, unknown][] {
    if (++this.#merges > MAX_MERGES) {
      if (this.#merges === MAX_MERGES + 1)
        this.#issue('EVICTD_CONFIG_ALIASES', `more than ${String(MAX_MERGES)} merge keys`, startOf(pair.key));
      return [];
    }
    const target = isAlias(pair.value) ? pair.value.resolve(this.document) : pair.value;
    const sources = isSeq(target) ? target.items.toReversed() : [target];
    return sources.flatMap((source) => {
      const map = isAlias(source) ? source.resolve(this.document) : source;
      if (isMap(map)) return this.#entries(map.items.filter(isPair), path);
      this.#issue('EVICTD_CONFIG_SYNTAX', 'only maps can be merged', startOf(pair.key), 'write <<: *ANCHOR of a map');
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

function plain(value: unknown, source: string | undefined, numbers: Numbers): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && isHeld(value)) {
    return numbers === 'as-numbers' || source === String(value) ? value : (source ?? value);
  }
  return source ?? JSON.stringify(value);
}

function isHeld(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** The number that a document has left as the text: `0x10`, `1e5`, `007`. Other values are returned as they are. */
export function writtenNumber(value: unknown): unknown {
  if (typeof value !== 'string' || !/^([-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|0x[0-9a-f]+|0o[0-7]+)$/i.test(value)) return value;
  const number = Number(value);
  return isHeld(number) && String(number) !== value ? number : value;
}

/**
 * The map without keys that have no value, because such a key counts as missing.
 *
 * @param kept  keys of maps whose null values stay
 */
export function withoutNulls(value: unknown, kept: readonly string[] = []): unknown {
  const prune = (inner: unknown, key: string | undefined): unknown => {
    if (Array.isArray(inner)) return inner.map((item) => prune(item, undefined));
    if (!isRecord(inner)) return inner;
    const isKept = key !== undefined && kept.includes(key);
    return Object.fromEntries(
      Object.entries(inner)
        .filter(([, child]) => isKept || child !== null)
        .map(([name, child]) => [name, prune(child, name)]),
    );
  };
  return prune(value ?? {}, undefined);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value for messages. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return isRecord(value) ? 'a map' : JSON.stringify(value);
}
