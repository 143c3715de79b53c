import { isMet, type Benchmark, type Figure, type Result } from './benchmark.js';

const COLUMNS = ['', 'unit', 'n', 'median', 'p90', 'p99', 'max', 'target', ''] as const;

/** One table for all benchmarks, with common columns. */
export function table(results: readonly (readonly [Benchmark, Result])[]): string {
  const rows = results.flatMap(([{ name }, { figures }]) => figures.map((figure) => cells(name, figure)));
  return markdown(COLUMNS, rows, isNumber);
}

/** As a Markdown table. */
export function markdown(titles: readonly string[], rows: readonly (readonly string[])[], isRight: (column: number) => boolean): string {
  const widths = titles.map((title, column) => Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map((cell) => cell.length), 3));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (isRight(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (isRight(column) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`;
  return [line(titles), rule, ...rows.map(line)].join('\n');
}

export function notes(results: readonly (readonly [Benchmark, Result])[]): string {
  return results.flatMap(([{ name }, result]) => (result.notes ?? []).map((note) => `${name}: ${note}`)).join('\n');
}

function isNumber(column: number): boolean {
  return column >= 2 && column <= 6;
}

function cells(name: string, figure: Figure): string[] {
  const { what, unit, measured, target } = figure;
  const met = isMet(figure);
  const values =
    typeof measured === 'number'
      ? ['', digits(measured), '', '', '']
      : [String(measured.size), ...[0.5, 0.9, 0.99, 1].map((share) => digits(measured.quantile(share)))];
  const promise = target === undefined ? '' : `${target.bound === 'at most' ? '≤' : '≥'} ${String(target.limit)}`;
  return [`${name}: ${what}`, unit, ...values, promise, met === undefined ? '' : met ? 'met' : 'NOT MET'];
}

/** Three significant digits. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const places = Math.min(Math.max(2 - Math.floor(Math.log10(Math.abs(value))), 0), 6);
  return value.toFixed(places);
}
