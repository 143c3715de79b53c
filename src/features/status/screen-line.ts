import type { Colour, Style } from '../../cli/output/style.js';
import { clipped } from '../../cli/output/text-columns.js';
import { wrapped } from '../../cli/output/wrapped.js';
import { printable } from '../../core/name/printable.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import { formatDuration } from '../../core/quantity/duration.js';
import type { Signal } from '../../core/signal/signal.js';
import type { Amount, SignalStatus } from './status-document.js';

export interface ScreenSize {
  readonly columns: number;
  /** undefined: as many as it takes. */
  readonly rows: number | undefined;
}

/** How a screen is drawn. */
export interface Drawing extends ScreenSize {
  /** The terminal shows more than ASCII. */
  readonly unicode: boolean;
  readonly style: Style;
}

export interface Line {
  readonly text: string;
  readonly colour?: Colour | undefined;
}

export const EMPTY: Line = { text: '' };

/** Lines as they are written: cut at the width of the screen, and coloured. */
export function drawn(lines: readonly Line[], { columns, rows, unicode, style }: Drawing): string[] {
  return lines.slice(0, rows).map(({ text, colour }) => {
    const cut = clipped(text, columns, cutMark(unicode));
    return colour === undefined ? cut : style(colour, cut);
  });
}

export const cutMark = (unicode: boolean): string => (unicode ? '…' : '>');

/** A message in as many lines as it takes, the later ones indented. */
export function paragraph(message: string, columns: number, colour?: Colour): Line[] {
  return wrapped(printable(message), columns - 2).map((text, index) => ({ text: `${index === 0 ? '' : '  '}${text}`, colour }));
}

export function amountText(unit: SignalStatus['unit'], amount: Amount | null): string {
  if (amount === null) return '?';
  if (unit === 'ratio') return `${(Number(amount) * 100).toFixed(1)}%`;
  return unit === 'bytes' ? amountOfBytes(BigInt(amount)) : String(amount);
}

export function timeText(seconds: number): string {
  return formatDuration(BigInt(Math.floor(seconds)) * 1_000_000_000n);
}

/** The unit of a workload's usage for a signal. */
export function unitOf(signal: Signal): SignalStatus['unit'] {
  return signal === 'pid.available' ? 'processes' : signal.endsWith('.inodesFree') ? 'inodes' : 'bytes';
}

/** The time of day here, with the date where it is not today. */
export function clockTime(time: string): string {
  const date = new Date(time);
  const [day, clock] = [date.toLocaleDateString('sv'), date.toLocaleTimeString('sv')];
  return day === new Date().toLocaleDateString('sv') ? clock : `${day} ${clock}`;
}
