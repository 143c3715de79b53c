import { isCollection, isMap, isScalar, isSeq, parseDocument, type Node, type Pair } from 'yaml';
import type { Report } from '../../config/value/report.js';
import type { SourcePosition } from '../../errors.js';
import { positionsOf, type ImportSource } from './import-source.js';

/** A value of a JSON document and where it is. */
export type JsonNode =
  | { readonly kind: 'map'; readonly position: SourcePosition; readonly members: readonly JsonMember[] }
  | { readonly kind: 'list'; readonly position: SourcePosition; readonly items: readonly JsonNode[] }
  /** `text`: a string's contents, else the value as written. */
  | { readonly kind: 'scalar'; readonly position: SourcePosition; readonly text: string };

/** A key of a map with its value. `position` is the key's. */
export interface JsonMember {
  readonly key: string;
  readonly position: SourcePosition;
  readonly value: JsonNode;
}

/** Limits the recursion. */
const MAX_DEPTH = 32;

const HINT = 'oomd reads JSON; comments (// and /* */) are allowed';

/**
 * Reads JSON with comments, as oomd does with jsoncpp (allowComments). Undefined: it is none, with the issues in the
 * report. JSON is YAML without block style: the YAML parser reads it, and what only YAML has is refused here.
 */
export function readCommentedJson(source: ImportSource, report: Report): JsonNode | undefined {
  const reader = new Reader(positionsOf(source), report);
  const plain = withoutComments(source.text);
  if (plain.deep !== undefined) reader.refuse(`nested deeper than ${String(MAX_DEPTH)} levels`, plain.deep);
  if (plain.open !== undefined) reader.refuse('this comment has no end', plain.open);
  if (plain.deep !== undefined || plain.open !== undefined) return undefined;
  const foreign = /^\s*(?:@[^\n]*)/.exec(plain.text)?.[0];
  if (foreign !== undefined) {
    const offset = foreign.length - foreign.trimStart().length;
    reader.refuse(`line ${String(positionsOf(source)(offset).line)} is not JSON: remove it`, offset);
    return undefined;
  }
  const { contents, errors } = parseDocument(plain.text, { schema: 'json', logLevel: 'silent' });
  for (const { message, pos } of errors) reader.refuse(jsonMessage(message), pos[0]);
  if (errors.length > 0) return undefined;
  const before = report.issues.length;
  const [root] = reader.read(contents);
  return report.issues.length > before ? undefined : root;
}

/** Turns nodes of the YAML parser into those of JSON. What is none is reported, and left out. */
class Reader {
  constructor(
    private readonly at: (offset: number) => SourcePosition,
    private readonly report: Report,
  ) {}

  refuse(message: string, offset: number): [] {
    this.report.issue('EVICTD_IMPORT_SYNTAX', message, this.at(offset), HINT);
    return [];
  }

  read(node: unknown): readonly JsonNode[] {
    const offset = startOf(node) ?? 0;
    const position = this.at(offset);
    if (isCollection(node) && node.flow !== true) return this.refuse('expected { or [', offset);
    if (isMap(node)) return [{ kind: 'map', position, members: node.items.flatMap((pair) => this.#member(pair, offset)) }];
    if (isSeq(node)) return [{ kind: 'list', position, items: node.items.flatMap((item) => this.read(item)) }];
    if (!isScalar(node)) return this.refuse(node === null ? 'the file is empty' : 'expected a value', offset);
    const isText = node.type === 'QUOTE_DOUBLE';
    if (!isText && node.type !== 'PLAIN') return this.refuse('expected double quotes', offset);
    return [{ kind: 'scalar', position, text: isText ? String(node.value) : (node.source ?? String(node.value)) }];
  }

  #member({ key, value }: Pair, map: number): readonly JsonMember[] {
    const offset = startOf(key) ?? map;
    if (!isScalar(key) || key.type !== 'QUOTE_DOUBLE') return this.refuse('expected a key in double quotes', offset);
    const name = String(key.value);
    if (value === null) return this.refuse(`expected a value of "${name}"`, offset);
    return this.read(value).map((member) => ({ key: name, position: this.at(offset), value: member }));
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

/** The YAML parser's message without its position and its words. */
function jsonMessage(message: string): string {
  return message
    .replace(/ at line \d+, column \d+:[^]*$/, '')
    .replace('Unresolved plain scalar', 'not a value of JSON:')
    .replace('Map keys must be unique', 'a key of this object occurs twice');
}

interface Plain {
  /** The text without comments, of the same length, so that offsets stay. */
  readonly text: string;
  /** The offset of a comment without an end. */
  readonly open?: number;
  /** The offset where the nesting is too deep. */
  readonly deep?: number;
}

/** Puts spaces in the place of comments and of tabs between values. */
function withoutComments(text: string): Plain {
  const token = /"(?:\\[^]|[^"\\])*"?|\/\/[^\n]*|\/\*[^]*?(\*\/|$)|[[\]{}]|\t/g;
  let depth = 0;
  let open: number | undefined;
  let deep: number | undefined;
  const plain = text.replace(token, (found, end: string | undefined, offset: number) => {
    if (found.startsWith('"')) return found;
    if (found === '{' || found === '[') depth += 1;
    if (found === '}' || found === ']') depth -= 1;
    if (depth > MAX_DEPTH) deep ??= offset;
    if (found.length === 1) return found === '\t' ? ' ' : found;
    if (found.startsWith('/*') && end === '') open ??= offset;
    return found.replace(/[^\n]/g, ' ');
  });
  return { text: plain, ...(open !== undefined && { open }), ...(deep !== undefined && { deep }) };
}
