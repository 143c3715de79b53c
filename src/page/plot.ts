import { amountText } from '../features/status/screen-line.js';
import type { SignalStatus, StatusDocument, ThresholdStatus } from '../features/status/status-document.js';
import { html, svg } from './dom.js';

const [WIDTH, HEIGHT, TOP, BOTTOM] = [320, 110, 14, 92] as const;
/** The curve begins here at the latest. */
const MIN_SECONDS = 60;

interface Limit {
  readonly value: number | null;
  readonly class: string;
  readonly text: string;
}

/** A signal with its value, its last values as a curve, and the limits of its thresholds. */
export function signalFigure(signal: SignalStatus, { thresholds, historyAgesSeconds }: StatusDocument): HTMLElement {
  const { unit, value, capacity, reason, standIn } = signal;
  const of = unit === 'ratio' || capacity === null ? '' : ` of ${amountText(unit, capacity)}`;
  const limits = thresholds.flatMap((threshold) => limitsOf(signal, threshold));
  return html(
    'figure',
    {},
    html('h3', {}, signal.signal),
    html(
      'p',
      {},
      html('span', { class: 'value' }, value === null ? 'not known' : amountText(unit, value)),
      html('span', { class: 'dim' }, of),
    ),
    ...(reason === undefined ? [] : [html('p', { 'data-level': 'yellow' }, reason)]),
    ...(standIn === undefined ? [] : [html('p', { class: 'dim' }, "the kernel's average of 10 s")]),
    curve(signal, historyAgesSeconds, limits),
    html('ul', {}, ...limits.map((limit) => html('li', {}, swatch(limit), limit.text))),
  );
}

function limitsOf({ signal, unit }: SignalStatus, { operands, kind, met, when }: ThresholdStatus): Limit[] {
  return operands
    .filter((operand) => operand.signal === signal)
    .map(({ limit, distance }) => ({
      value: limit === null ? null : Number(limit),
      class: `${kind}${operands.length > 1 ? ' joined' : ''}`,
      text:
        `${kind} ${amountText(unit, limit)}${operands.length > 1 ? ` in ${when}` : ''}: ` +
        (met === true ? 'met' : distance === null ? 'not known' : `${amountText(unit, distance)} left`),
    }));
}

function swatch({ class: of }: Limit): SVGElement {
  return svg(
    'svg',
    { class: 'swatch', viewBox: '0 0 26 10', 'aria-hidden': 'true' },
    svg('line', { class: of, x1: '0', x2: '26', y1: '5', y2: '5' }),
  );
}

function curve(signal: SignalStatus, ages: readonly number[], limits: readonly Limit[]): SVGElement {
  const points = [...ages.map((age, index) => [age, signal.history[index] ?? null] as const), [0, numberOf(signal.value)] as const];
  const known = points.flatMap(([, value]) => (value === null ? [] : [value]));
  const span = Math.max(MIN_SECONDS, ...ages);
  const highest = Math.max(...known, ...limits.flatMap(({ value }) => value ?? []), signal.unit === 'ratio' ? 0.1 : 1);
  const capacity = numberOf(signal.capacity) ?? Infinity;
  const most = capacity < highest ? highest * 1.05 : Math.min(highest * 1.05, capacity);
  const x = (age: number): string => (WIDTH - (age / span) * WIDTH).toFixed(1);
  const y = (value: number): string => (BOTTOM - (value / most) * (BOTTOM - TOP)).toFixed(1);
  let pen = 'M';
  const path = points.map(([age, value]) => {
    const part = value === null ? '' : `${pen}${x(age)} ${y(value)}`;
    pen = value === null ? 'M' : 'L';
    return part;
  });
  const range =
    known.length === 0
      ? 'no value'
      : `from ${amountText(signal.unit, roughly(signal, Math.min(...known)))} to ${amountText(signal.unit, roughly(signal, Math.max(...known)))}`;
  const label = `${signal.signal} in the last ${String(Math.round(span / 60))} min: ${range}`;
  const lines = limits.flatMap(({ value, class: of }) =>
    value === null ? [] : [svg('line', { class: of, x1: '0', x2: String(WIDTH), y1: y(value), y2: y(value) })],
  );
  return svg(
    'svg',
    { viewBox: `0 0 ${String(WIDTH)} ${String(HEIGHT)}`, role: 'img', 'aria-label': label },
    svg('line', { class: 'axis', x1: '0', x2: String(WIDTH), y1: String(BOTTOM), y2: String(BOTTOM) }),
    ...lines,
    svg('path', { class: 'curve', d: path.join('') }),
    svg('text', { x: '0', y: '10' }, amountText(signal.unit, roughly(signal, most))),
    svg('text', { x: '0', y: String(HEIGHT - 4) }, `${String(Math.round(span / 60))} min ago`),
    svg('text', { x: String(WIDTH), y: String(HEIGHT - 4), 'text-anchor': 'end' }, 'now'),
  );
}

function numberOf(amount: SignalStatus['value']): number | null {
  return amount === null ? null : Number(amount);
}

/** A whole number for bytes, inodes and processes, as the text of an amount needs it. */
function roughly({ unit }: SignalStatus, value: number): number {
  return unit === 'ratio' ? value : Math.round(value);
}
