import { closeSync, openSync, readSync } from 'node:fs';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, parseDocument, type Document } from 'yaml';
import { InputError } from '../../errors.js';
import { documentOf, isAbsent, items, member, textOf, type Field } from '../document.js';
import { parseJson } from '../json.js';
import { JsonObjects, TextEnd, type ObjectText, type TextPosition } from './json-objects.js';
import { syntaxErrorOffset } from './json-syntax.js';
import { objectName } from './object-name.js';

export interface FoundObject {
  readonly kind: string;
  /** 'apps/v1'. */
  readonly apiVersion: string;
  readonly object: Field;
  readonly at: FilePosition;
}

export interface FilePosition extends TextPosition {
  /** A path, or 'standard input'. */
  readonly file: string;
}

/** Text that is not an object. The objects before it in the file are valid. */
export interface BadText {
  /** 'Pod shop/web'; '': no object, or its name is not known. */
  readonly object: string;
  readonly message: string;
  readonly at: FilePosition;
}

export interface ObjectSink {
  readonly object: (found: FoundObject) => void;
  readonly bad: (problem: BadText) => void;
}

const STANDARD_INPUT = 0;
const PART_BYTES = 4 * 1024 * 1024;
/** A file that is not text has a byte of value 0 within these. */
const HEAD_BYTES = 4096;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
/** The name of a broken object is looked for within these characters. */
const MAX_BROKEN = 256 * 1024;

/** YAML is read as a whole. */
const MAX_YAML_BYTES = 256 * 1024 * 1024;

/**
 * Reads the objects of a file ('-': standard input): single ones, lists and arrays of them, one after another, as JSON or YAML.
 * JSON may be of any size: an object is in memory only until the sink has taken it.
 *
 * @throws InputError  the file cannot be read
 */
export function readObjects(path: string, sink: ObjectSink): void {
  const file = path === '-' ? 'standard input' : path;
  const parts = partsOf(path, file);
  const first = parts.next();
  const read = first.done === true ? Buffer.alloc(0) : first.value;
  const head = read.subarray(read.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0);
  if (head.toString('latin1').trim() === '') {
    sink.bad({ object: '', message: 'empty', at: startOf(file) });
    return;
  }
  if (head.subarray(0, HEAD_BYTES).includes(0)) {
    sink.bad({
      object: '',
      message: 'neither JSON nor YAML in UTF-8: it has bytes of value 0, as UTF-16 and compressed files have',
      at: startOf(file),
    });
    return;
  }
  const start = head.toString('latin1').trimStart().slice(0, 1);
  if (start === '{' || start === '[') readJson(file, [head], parts, sink);
  else readYaml(file, [head, ...parts], sink);
}

function startOf(file: string): FilePosition {
  return { file, line: 1, column: 1 };
}

function* partsOf(path: string, file: string): Generator<Buffer, undefined> {
  let descriptor: number | undefined;
  try {
    descriptor = path === '-' ? STANDARD_INPUT : openSync(path, 'r');
    for (;;) {
      const part = Buffer.allocUnsafe(PART_BYTES);
      const count = readSync(descriptor, part, 0, part.length, null);
      if (count === 0) return undefined;
      yield part.subarray(0, count);
    }
  } catch (cause) {
    if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
    throw new InputError('EVICTD_KUBERNETES_FILE', `${file} cannot be read: ${cause.message}`, { isMissing: true, cause });
  } finally {
    if (descriptor !== undefined && descriptor !== STANDARD_INPUT) closeSync(descriptor);
  }
}

function readJson(file: string, first: readonly Buffer[], rest: Iterable<Buffer>, sink: ObjectSink): void {
  const objects = new JsonObjects();
  const collected = new Collected(file, sink);
  try {
    for (const part of chained(first, rest)) for (const text of objects.take(part)) takeJson(text, collected);
    objects.end();
  } catch (error) {
    if (!(error instanceof TextEnd)) throw error;
    const object = brokenName(error.text);
    const after = object === '' && collected.last !== '' ? `, after ${collected.last}` : '';
    collected.bad(`${error.message}${after}`, error.position, object);
  }
  collected.end();
}

function* chained(first: Iterable<Buffer>, rest: Iterable<Buffer>): Generator<Buffer> {
  yield* first;
  yield* rest;
}

function takeJson({ what, text, position }: ObjectText, collected: Collected): void {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    collected.bad(
      `not JSON: ${error.message.replace(/, (?:\.\.\.)?".*is not valid JSON$| in JSON at position.*/s, '')}`,
      placeWithin(text, position),
      what === 'list' ? '' : brokenName(text),
    );
    return;
  }
  if (what === 'list') collected.list(documentOf(value));
  else collected.take(documentOf(value), position, what === 'item');
}

/** The name in the text of an object that is broken or cut off: YAML's parser goes on after an error. '': it is not there. */
function brokenName(text: string): string {
  const begin = text.slice(0, MAX_BROKEN);
  const object = documentOf(parseDocument(begin, { logLevel: 'silent' }).toJS());
  if (!isObject(object)) return '';
  const name = objectName(typed(object, 'kind'), object);
  const own = name.slice(Math.max(name.indexOf(' '), name.indexOf('/')) + 1);
  return begin.includes(`"${own}"`) ? name : ''; // not if the name itself is cut off
}

/** The place where the parser stopped. */
function placeWithin(text: string, start: TextPosition): TextPosition {
  const lines = text.slice(0, syntaxErrorOffset(text)).split('\n');
  const column = (lines.at(-1) ?? '').length + 1;
  return lines.length === 1 ? { line: start.line, column: start.column + column - 1 } : { line: start.line + lines.length - 1, column };
}

function readYaml(file: string, parts: readonly Buffer[], sink: ObjectSink): void {
  const bytes = Buffer.concat(parts);
  const collected = new Collected(file, sink);
  if (bytes.length > MAX_YAML_BYTES) {
    collected.bad('larger than 256 MiB as YAML: use JSON (kubectl get -o json)', { line: 1, column: 1 });
    return;
  }
  const lines = new LineCounter();
  const place = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const documents = parseAllDocuments(bytes.toString('utf8'), { lineCounter: lines, intAsBigInt: true, merge: true, logLevel: 'silent' });
  for (const document of Array.isArray(documents) ? documents : []) {
    try {
      takeYaml(document, place, collected);
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      collected.bad(`not YAML: ${error.message}`, place(beginOf(document.contents))); // an alias
    }
  }
  collected.end();
}

/** The parser goes on after an error: items before the one with the error count. */
function takeYaml(document: Document.Parsed, place: (offset: number) => TextPosition, collected: Collected): void {
  const { contents } = document;
  const [error] = document.errors;
  const list = isMap(contents) ? contents.get('items') : contents;
  const nodes = isSeq(list) ? list.items : undefined;
  if (error === undefined) {
    const value: unknown = document.toJS();
    const places = nodes?.map((node) => place(beginOf(node))) ?? [];
    if (value !== null) collected.document(documentOf(value), place(beginOf(contents)), places);
    return;
  }
  const [end] = error.pos;
  const before = (nodes ?? [contents]).filter((node) => beginOf(node) <= end);
  const broken = before.pop();
  for (const node of before) collected.take(documentOf(isNode(node) ? node.toJS(document) : node), place(beginOf(node)), true);
  const message = error.message.replace(/ at line \d+, column \d+:\n[^]*/, '');
  collected.bad(`not YAML: ${message}`, place(end), nameBefore(broken, end));
}

function beginOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

/** The name of a broken object; '': the error is in it, or before it. */
function nameBefore(object: unknown, end: number): string {
  if (!isMap(object)) return '';
  const textAt = (...path: readonly string[]): string | undefined => {
    const node = object.getIn(path, true);
    return isScalar(node) && typeof node.value === 'string' && (node.range?.[1] ?? end) < end ? node.value : undefined;
  };
  const [kind = '', name, namespace] = [textAt('kind'), textAt('metadata', 'name'), textAt('metadata', 'namespace')];
  const isCut = name === undefined || (namespace === undefined && object.hasIn(['metadata', 'namespace']));
  return isCut ? '' : objectName(kind, documentOf({ metadata: { name, namespace } }));
}

/** Objects with their kinds: an item without one has that of its list, which may come last. */
class Collected {
  readonly #file: string;
  readonly #sink: ObjectSink;
  #unnamed: (readonly [object: Field, at: TextPosition])[] = [];
  #last: readonly [kind: string, object: Field] | undefined;

  constructor(file: string, sink: ObjectSink) {
    this.#file = file;
    this.#sink = sink;
  }

  /** The name of the last object; '': there was none. */
  get last(): string {
    return this.#last === undefined ? '' : objectName(...this.#last);
  }

  bad(message: string, position: TextPosition, object = ''): void {
    this.#sink.bad({ object, message, at: { file: this.#file, ...position } });
  }

  /** @param places  of the items, if it has any */
  document(value: Field, position: TextPosition, places: readonly TextPosition[]): void {
    const isList = isObject(value) && Array.isArray(member(value, 'items').value);
    if (!isList && !Array.isArray(value.value)) {
      this.take(value, position, false);
      return;
    }
    for (const [index, item] of items(isList ? member(value, 'items') : value).entries())
      this.take(documentOf(item.value), places[index] ?? position, true);
    this.list(value);
    // kubectl writes the kind after the items.
    if (isList && isAbsent(member(value, 'kind')))
      this.bad(`the list has no kind, as in a file that is cut off${this.last === '' ? '' : ` after ${this.last}`}`, position);
  }

  take(object: Field, position: TextPosition, isItem: boolean): void {
    if (!isObject(object)) {
      this.bad(`${shown(object)}: an object is expected`, position);
      return;
    }
    this.#last = [typed(object, 'kind'), object];
    if (isItem && isAbsent(member(object, 'kind'))) this.#unnamed.push([object, position]);
    else this.#found(object, typed(object, 'kind'), typed(object, 'apiVersion'), position);
  }

  /** Its items have been taken. */
  list(list: Field): void {
    const kind = Array.isArray(list.value) ? '' : typed(list, 'kind').replace(/List$/, '');
    const apiVersion = Array.isArray(list.value) ? '' : typed(list, 'apiVersion');
    for (const [object, position] of this.#unnamed) this.#found(object, kind || 'Pod', apiVersion || 'v1', position);
    this.#unnamed = [];
  }

  /** Items of a list that did not end. */
  end(): void {
    for (const [object, position] of this.#unnamed) this.#found(object, '', '', position);
    this.#unnamed = [];
  }

  #found(object: Field, kind: string, apiVersion: string, position: TextPosition): void {
    this.#sink.object({ kind, apiVersion, object, at: { file: this.#file, ...position } });
  }
}

/** The characters that a message quotes of a text that is not an object. */
const SHOWN = 40;

function shown({ value }: Field): string {
  const text = Array.isArray(value) ? 'a list' : String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function isObject({ value }: Field): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** '' if it is absent or no text. */
function typed(object: Field, key: string): string {
  const field = member(object, key);
  return typeof field.value === 'string' ? textOf(field) : '';
}
