import type { Report } from '../../config/value/report.js';
import { positionsOf, type ImportSource } from './import-source.js';
import type { Written } from './values.js';

/** A line of a configuration of nohang: `key = value`, or `@KEY …`, which may come again. */
export interface NohangLine extends Written {
  readonly key: string;
  /** The line as it was. */
  readonly line: string;
}

/** The lines that are not comments. A line that begins with white space or # is one. */
export function readNohangFile(source: ImportSource, report: Report): NohangLine[] {
  const at = positionsOf(source);
  const lines: NohangLine[] = [];
  let offset = 0;
  for (const line of source.text.split('\n')) {
    const start = offset;
    offset += line.length + 1;
    if (line.trim() === '' || /^[#\s]/.test(line)) continue;
    const [, optional, ofOptional = ''] = /^(@\w+)\s*(.*?)\s*$/.exec(line) ?? [];
    const [, key, ofKey = ''] = /^([^@=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    const name = optional ?? key;
    if (name === undefined || name === '') {
      const hint = 'write key = value or @KEY …; a comment begins with # or white space';
      report.issue('EVICTD_IMPORT_SYNTAX', `not a setting: ${JSON.stringify(line)}`, at(start), hint);
      continue;
    }
    const value = optional === undefined ? ofKey : ofOptional;
    const position = at(start + (value === '' ? line.trimEnd().length : line.lastIndexOf(value)));
    if (optional === undefined && lines.some((before) => before.key === name)) {
      report.issue('EVICTD_IMPORT_VALUE', `${name} is set twice`, position, 'remove one: nohang does not start with both');
    }
    lines.push({ key: name, text: value, line: line.trimEnd(), position });
  }
  return lines;
}
