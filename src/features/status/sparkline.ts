const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
/** The bars for terminals that show ASCII only. */
const ASCII = ['_', '.', '-', '=', '+', '*', '%', '#'] as const;
/** The least share of the capacity from the lowest block to the highest one: a smaller change looks as small as it is. */
const MIN_SPAN = 0.05;

/**
 * The last values as a line of blocks around the middle between the lowest and the highest of them; a space for a value that is not known.
 *
 * @param capacity  in the unit of the values; 0: unknown
 */
export function sparkline(values: readonly (number | null)[], capacity: number, width: number, unicode: boolean): string {
  const shown = values.slice(-width);
  const known = shown.filter((value) => value !== null);
  if (known.length < 2) return '';
  const levels = unicode ? BLOCKS : ASCII;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const span = Math.max(high - low, capacity * MIN_SPAN) || 1;
  return shown
    .map((value) => {
      if (value === null) return ' ';
      const level = Math.floor(((value - (low + high) / 2) / span + 0.5) * levels.length - 0.5);
      return levels[Math.min(levels.length - 1, Math.max(0, level))] ?? ' ';
    })
    .join('');
}
