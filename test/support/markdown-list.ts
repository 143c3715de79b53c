import { wrapped } from '../../src/cli/output/wrapped.js';

/** The longest row of a table in a page. */
export const LONGEST_ROW = 140;

const LONGEST_LINE = 120;

/** An item of a list in a page, wrapped as prose is. */
export function listItem(text: string): string {
  return `- ${wrapped(text, LONGEST_LINE - 2).join('\n  ')}`;
}
