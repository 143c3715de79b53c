import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENT = join(import.meta.dirname, '../../docs/benchmarks.md');

/**
 * Writes results into docs/benchmarks.md, between `<!-- name -->` and `<!-- /name -->`: where and when, and a table.
 * Throws if the document has no such markers.
 */
export function publish(name: string, where: string, table: string): void {
  writeFileSync(DOCUMENT, withTable(readFileSync(DOCUMENT, 'utf8'), name, `${where.split('\n').join(',\n')}.\n\n${table}`));
}

export function withTable(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = document.indexOf(begin);
  const to = document.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`there is no place for a table between ${begin} and ${end}`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}
