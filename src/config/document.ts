import { Composer, LineCounter, Parser, type CST } from 'yaml';
import type { SourcePosition } from '../errors.js';
import type { KeyPath } from './key.js';
import type { Report } from './report.js';
import { MAX_DEPTH, ValueReader } from './values.js';

/** One source of settings as plain values, and where each of them stands. */
export interface SettingsDocument {
  /** Maps as objects, texts, numbers (exact ones only, the others as written), booleans, null. */
  readonly value: unknown;
  /** Of the value; of the key, or of what holds it, where there is no value. */
  readonly at: (path: KeyPath) => SourcePosition;
  readonly keyAt: (path: KeyPath) => SourcePosition;
}

/**
 * Reads YAML 1.2 with merge keys (`<<`). Undefined when it is wrong: everything that the parser says is then in the report. A key that
 * stands twice is in the report, too, and the rest is read. An empty file is an empty map.
 */
export function readDocument(file: string, text: string, report: Report): SettingsDocument | undefined {
  const lines = new LineCounter();
  const position = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = deeperThan(tokens, MAX_DEPTH);
  if (tooDeep !== undefined) {
    report.issue('EVICTD_CONFIG_SYNTAX', `nested deeper than ${String(MAX_DEPTH)} levels`, position(tooDeep), 'a configuration needs five');
    return undefined;
  }
  // Keys that stand twice are found by the ValueReader, which knows their names, and goes on.
  const documents = [...new Composer({ merge: true, uniqueKeys: false, logLevel: 'silent' }).compose(tokens)];
  const before = report.issues.length;
  for (const problem of documents.flatMap((document) => [...document.errors, ...document.warnings])) {
    report.issue('EVICTD_CONFIG_SYNTAX', problem.message, position(problem.pos[0]), syntaxHint(problem.code));
  }
  const [document, second] = documents;
  if (second !== undefined) {
    const start = position(second.range[0]);
    report.issue('EVICTD_CONFIG_DOCUMENTS', 'a second YAML document begins here', start, 'one document per file; put it into a drop-in');
  }
  if (report.issues.length > before) return undefined;
  if (document === undefined || document.contents === null) return { value: {}, at: () => ({ file }), keyAt: () => ({ file }) };
  const reader = new ValueReader(document, position, report);
  const value = reader.read(document.contents, [], undefined);
  if (report.issues.slice(before).some(({ code }) => code !== 'EVICTD_CONFIG_DUPLICATE_KEY')) return undefined;
  return { value, at: (path) => reader.find(path, 'value'), keyAt: (path) => reader.find(path, 'key') };
}

function syntaxHint(code: string): string | undefined {
  if (code === 'TAB_AS_INDENT') return 'indent with spaces';
  if (code === 'TAG_RESOLVE_FAILED') return 'tags (!name) are not used in a configuration';
  return undefined;
}

/** Offset of the first token below `limit` levels of maps and lists. Iterative, as the parser is. */
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
