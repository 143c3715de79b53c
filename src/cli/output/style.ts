import type { Io } from '../io.js';

export type Colour = 'red' | 'yellow' | 'green' | 'dim';

const CODES: Readonly<Record<Colour, number>> = { dim: 2, red: 31, green: 32, yellow: 33 };

/** Text in a colour, or as it is. */
export type Style = (colour: Colour, text: string) => string;

/** Colour only on a terminal and without NO_COLOR (no-color.org: any text in it counts); FORCE_COLOR wins over both. */
export function styleFor({ isTTY, env }: Io): Style {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  const coloured = forced || (isTTY && !env.NO_COLOR && env.TERM !== 'dumb');
  return (colour, text) => (coloured ? `\u001b[${String(CODES[colour])}m${text}\u001b[0m` : text);
}
