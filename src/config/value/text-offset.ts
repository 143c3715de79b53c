import type { Scalar } from 'yaml';

/**
 * The offset of a character of a scalar in the source. YAML changes white space (folded lines, indentation of blocks), and
 * nothing else unless a text is escaped, so that the characters between are counted. In an escaped text: its start.
 *
 * @param offset  in UTF-16 units from the start of the scalar's text; its length: behind the last character
 */
export function offsetWithin(source: string, { range, type, value }: Scalar, offset: number): number {
  const [start, end] = range ?? [0, 0];
  const written = source.slice(start, end);
  if (typeof value !== 'string' || (type === 'QUOTE_DOUBLE' && written.includes('\\'))) return start;
  let at = start + bodyOf(written, type);
  let left = value.slice(0, offset).replace(/\s/g, '').length;
  const isBehind = offset >= value.length || /\s/.test(value.charAt(offset));
  for (; at < end && (left > 0 || !isBehind); at++) {
    if (/\s/.test(source.charAt(at))) continue;
    if (left === 0) return at;
    left -= 1;
    if (type === 'QUOTE_SINGLE' && source.startsWith("''", at)) at += 1;
  }
  return at;
}

/** Where the text begins: behind the quote, or below the line of a block's `|` or `>`. */
function bodyOf(written: string, type: Scalar['type']): number {
  if (type === 'QUOTE_SINGLE' || type === 'QUOTE_DOUBLE') return 1;
  return type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED' ? written.indexOf('\n') + 1 : 0;
}
