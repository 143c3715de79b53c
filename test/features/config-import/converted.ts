import { Report } from '../../../src/config/value/report.js';
import type { ImportSource } from '../../../src/features/config-import/import-source.js';
import { migrationText } from '../../../src/features/config-import/migration-text.js';
import { PROGRAMS, type ProgramName } from '../../../src/features/config-import/programs.js';

/** What evictd config import prints, without its heading. Throws ConfigError. */
export function converted(from: ProgramName, sources: readonly ImportSource[]): string {
  const report = new Report();
  const migration = PROGRAMS[from].convert(sources, report);
  report.throwIssues(sources.map(({ file }) => file));
  return migrationText('heading', migration);
}

/** One source, named as its program is. */
export function convertedText(from: ProgramName, text: string): string {
  return converted(from, [{ file: from, text }]);
}

/** The lines that are no comment. */
export function settingsOf(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^\s*#/.test(line))
    .join('\n');
}

/** All comments as one line. */
export function commentsOf(text: string): string {
  return text
    .split('\n')
    .filter((line) => /^\s*#/.test(line))
    .map((line) => line.replace(/^\s*#\s*/, ''))
    .join(' ')
    .replace(/\s+/g, ' ');
}
