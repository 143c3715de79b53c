import { printable } from '../../core/name/printable.js';
import { textColumns } from './text-columns.js';

/** Numbers are aligned right. */
export interface Column {
  readonly heading: string;
  readonly align: 'left' | 'right';
}

/** Aligned lines without trailing spaces, the headings first; names in them are escaped. @param paint  colours a padded cell */
export function table(
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
  paint = (cell: string, _row: number, _column: number): string => cell,
): string[] {
  const rows = cells.map((row) => row.map(printable));
  const headings = columns.map(({ heading }) => printable(heading));
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => textColumns(row[column] ?? ''))));
  const line = (texts: readonly string[], row: number): string =>
    columns
      .map(({ align }, column) => {
        const cell = texts[column] ?? '';
        const padding = ' '.repeat((widths[column] ?? 0) - textColumns(cell));
        const last = column === columns.length - 1;
        return paint(align === 'right' ? padding + cell : last ? cell : cell + padding, row, column);
      })
      .join('  ')
      .trimEnd();
  return [line(headings, -1), ...rows.map(line)];
}
