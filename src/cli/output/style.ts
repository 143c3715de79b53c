import type { Io } from './io.js';

export type Colour = 'red' | 'yellow' | 'green' | 'dim';

const CODES: Readonly<Record<Colour, number>> = { dim: 2, red: 31, green: 32, yellow: 33 };

/** Colours text, if colours are on. */
export type Style = (colour: Colour, text: string) => string;

/** Colours on a terminal unless NO_COLOR is not empty (no-color.org); FORCE_COLOR overrides both. */
export function styleFor({ isTTY, env }: Io): Style {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  const coloured = forced || (isTTY && !env.NO_COLOR && env.TERM !== 'dumb');
  return (colour, text) => (coloured ? `\u001b[${String(CODES[colour])}m${text}\u001b[0m` : text);
}
