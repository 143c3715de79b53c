import { printable } from '../../core/name/printable.js';
import { textColumns } from './text-columns.js';

/**
 * Aligned lines without trailing spaces, the headings first; names in them are escaped.
 *
 * @param columns  their headings; those that begin with `>` align right, as numbers do
 * @param paint  colours a padded cell
 */
export function table(
  columns: readonly string[],
  cells: readonly (readonly string[])[],
  paint = (cell: string, _row: number, _column: number): string => cell,
): string[] {
  const rows = cells.map((row) => row.map(printable));
  const headings = columns.map((heading) => printable(heading.replace(/^>/, '')));
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => textColumns(row[column] ?? ''))));
  const line = (texts: readonly string[], row: number): string =>
    columns
      .map((heading, column) => {
        const cell = texts[column] ?? '';
        const padding = ' '.repeat((widths[column] ?? 0) - textColumns(cell));
        const last = column === columns.length - 1;
        return paint(heading.startsWith('>') ? padding + cell : last ? cell : cell + padding, row, column);
      })
      .join('  ')
      .trimEnd();
  return [line(headings, -1), ...rows.map(line)];
}
