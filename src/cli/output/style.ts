import { printable } from '../../core/name/printable.js';
import type { Io } from './io.js';

export type Colour = 'red' | 'yellow' | 'green' | 'dim';

const CODES: Readonly<Record<Colour, number>> = { dim: 2, red: 31, green: 32, yellow: 33 };

/** Colours text, if colours are on. */
export type Style = (colour: Colour, text: string) => string;

type Terminal = Pick<Io, 'isTTY' | 'env'>;

/** Colours on a terminal unless NO_COLOR is not empty (no-color.org); FORCE_COLOR overrides both. */
export function styleFor(terminal: Terminal): Style {
  const coloured = isColoured(terminal);
  return (colour, text) => (coloured ? `\u001b[${String(CODES[colour])}m${text}\u001b[0m` : text);
}

function isColoured({ isTTY, env }: Terminal): boolean {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  return forced || (isTTY && !env.NO_COLOR && env.TERM !== 'dumb');
}

// oxlint-disable-next-line no-control-regex -- the codes of `styleFor`
const CODE = /(\u001b\[(?:0|2|31|32|33)m)/;

/**
 * Lines of text or JSON for a terminal: escapes what a name could do there, whichever command forgot to. What it writes
 * is JSON, too. The codes of `styleFor` pass where there are colours.
 */
export function terminalText(text: string, terminal?: Terminal): string {
  const lines = (plain: string): string => plain.split('\n').map(printable).join('\n');
  if (terminal === undefined || !isColoured(terminal)) return lines(text);
  return text
    .split(CODE)
    .map((part, index) => (index % 2 === 1 ? part : lines(part)))
    .join('');
}
