/** Numbers are aligned right. */
export interface Column {
  readonly heading: string;
  readonly align: 'left' | 'right';
}

/** Aligned lines without trailing spaces, the headings first. @param paint  colours a padded cell */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint = (cell: string, _row: number, _column: number): string => cell,
): string[] {
  const widths = columns.map(({ heading }, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], row: number): string =>
    columns
      .map(({ align }, column) => {
        const cell = cells[column] ?? '';
        const width = widths[column] ?? 0;
        const last = column === columns.length - 1;
        return paint(align === 'right' ? cell.padStart(width) : last ? cell : cell.padEnd(width), row, column);
      })
      .join('  ')
      .trimEnd();
  return [
    line(
      columns.map(({ heading }) => heading),
      -1,
    ),
    ...rows.map(line),
  ];
}
