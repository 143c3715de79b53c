import type { Report } from '../../../config/value/report.js';
import type { SourcePosition } from '../../../errors.js';
import { positionsOf, type ImportSource } from '../import-source.js';

/** `Key=value` of a file in systemd.syntax(7). */
export interface Assignment {
  readonly file: string;
  readonly section: string;
  readonly key: string;
  readonly value: string;
  /** The position of the value. */
  readonly position: SourcePosition;
}

const HINT = 'write [Section], Key=value, or a comment with # or ;';

/** The assignments of a file, in order. A line that is none is an issue. */
export function readUnitFile(source: ImportSource, report: Report): Assignment[] {
  const at = positionsOf(source);
  let section: string | undefined;
  return linesOf(source.text).flatMap(({ text, offset }): Assignment[] => {
    const [, header] = /^\s*\[([^\]]*)\]\s*$/.exec(text) ?? [];
    const [, before = '', key, value = ''] = /^(\s*)([A-Za-z][A-Za-z0-9-]*)\s*=\s*([^]*?)\s*$/.exec(text) ?? [];
    if (header !== undefined) section = header;
    else if (key === undefined) report.issue('EVICTD_IMPORT_SYNTAX', `not an assignment: ${JSON.stringify(text.trim())}`, at(offset), HINT);
    else if (section === undefined)
      report.issue('EVICTD_IMPORT_SYNTAX', `${key}= is outside of any section`, at(offset + before.length), HINT);
    else {
      const start = value === '' ? text.trimEnd().length : text.lastIndexOf(value);
      return [{ file: source.file, section, key, value, position: at(offset + start) }];
    }
    return [];
  });
}

/** Lines without comments and empty lines. A backslash at the end continues a line; comments in between are skipped. */
function linesOf(whole: string): { readonly text: string; readonly offset: number }[] {
  const lines: { text: string; offset: number }[] = [];
  let open: { text: string; offset: number } | undefined;
  let offset = 0;
  for (const line of whole.split('\n')) {
    const start = offset;
    offset += line.length + 1;
    if (/^\s*[#;]/.test(line) || (open === undefined && line.trim() === '')) continue;
    const continues = line.endsWith('\\');
    const text = continues ? `${line.slice(0, -1)} ` : line;
    open = open === undefined ? { text, offset: start } : { ...open, text: open.text + text };
    if (continues) continue;
    lines.push(open);
    open = undefined;
  }
  return open === undefined ? lines : [...lines, open];
}
