const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
/** For terminals that show ASCII only. */
const ASCII = ['_', '.', '-', '=', '+', '*', '%', '#'] as const;

/** The last values as a line, from the lowest to the highest of them; a space where there was none. */
export function sparkline(values: readonly (number | null)[], width: number, unicode: boolean): string {
  const shown = values.slice(-width);
  const known = shown.filter((value) => value !== null);
  if (known.length < 2) return '';
  const levels = unicode ? BLOCKS : ASCII;
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  return shown
    .map((value) => {
      if (value === null) return ' ';
      return levels[span === 0 ? 3 : Math.min(levels.length - 1, Math.floor(((value - low) / span) * levels.length))] ?? ' ';
    })
    .join('');
}
