import { clockTime, drawn, EMPTY, paragraph, type Drawing, type Line } from '../screen-line.js';
import type { StatusDocument } from '../status-document.js';
import { CANDIDATE_ORDERS } from '../candidate-order.js';
import { PAGES, part } from './pages.js';

/** What the workloads are sorted by, the order of eviction first. */
export const ORDERS = [undefined, ...CANDIDATE_ORDERS] as const;

/** What the person at the terminal has chosen. */
export interface View {
  /** Index in PAGES. */
  readonly page: number;
  /** Lines that are scrolled out at the top. */
  readonly skip: number;
  /** Index in ORDERS. */
  readonly order: number;
  readonly isHelp: boolean;
}

export const FIRST_VIEW: View = { page: 0, skip: 0, order: 0, isHelp: false };

/** What a key does: another view, or something to the program. */
export type Action = 'quit' | 'suspend' | 'redraw' | 'signal' | ((view: View, rows: number) => View);

const toPage =
  (page: number): Action =>
  ({ ...rest }) => ({ ...rest, page: (page + PAGES.length) % PAGES.length, skip: 0, isHelp: false });
const turned =
  (by: number): Action =>
  ({ page, ...rest }) => ({ ...rest, page: (page + by + PAGES.length) % PAGES.length, skip: 0, isHelp: false });
const scrolled =
  (by: (rows: number) => number): Action =>
  (view, rows) => ({ ...view, skip: Math.max(0, view.skip + by(rows)) });

/** Every key, as `keyName` names it, and its line in the help. To add one, add an entry. */
const KEYS: readonly { readonly keys: readonly string[]; readonly help: string; readonly action: Action }[] = [
  { keys: ['q', 'ctrl-c'], help: 'q, Ctrl-C        end', action: 'quit' },
  { keys: ['right', 'tab', 'l'], help: 'Right, Tab       next page', action: turned(1) },
  { keys: ['left', 'shift-tab', 'h'], help: 'Left, Shift-Tab  page before', action: turned(-1) },
  ...PAGES.map(({ name }, page) => ({
    keys: [String(page + 1)],
    help: `${String(page + 1)}                ${name}`,
    action: toPage(page),
  })),
  { keys: ['down', 'j'], help: 'Down, j          scroll', action: scrolled(() => 1) },
  { keys: ['up', 'k'], help: 'Up, k            scroll back', action: scrolled(() => -1) },
  { keys: ['pagedown', 'space'], help: 'PgDn, Space      scroll a screen', action: scrolled((rows) => rows - 1) },
  { keys: ['pageup'], help: 'PgUp             scroll back a screen', action: scrolled((rows) => 1 - rows) },
  { keys: ['home', 'g'], help: 'Home, g          to the beginning', action: scrolled(() => -Infinity) },
  { keys: ['end', 'G'], help: 'End, G           to the end', action: scrolled(() => Number.MAX_SAFE_INTEGER / 2) },
  {
    keys: ['s'],
    help: `s                sort workloads by ${CANDIDATE_ORDERS.join(', ')}`,
    action: (view) => ({ ...view, order: (view.order + 1) % ORDERS.length, skip: 0 }),
  },
  { keys: ['n'], help: 'n                the order of eviction for the next signal', action: 'signal' },
  { keys: ['ctrl-l'], help: 'Ctrl-L           draw again', action: 'redraw' },
  { keys: ['ctrl-z'], help: 'Ctrl-Z           suspend', action: 'suspend' },
  { keys: ['?', 'f1'], help: '?                this help', action: (view) => ({ ...view, isHelp: !view.isHelp, skip: 0 }) },
  { keys: ['escape'], help: 'Esc              close the help', action: (view) => ({ ...view, isHelp: false, skip: 0 }) },
];

export function actionOf(key: string): Action | undefined {
  return KEYS.find(({ keys }) => keys.includes(key))?.action;
}

const LEGEND = [
  'LIMIT: the threshold that is met, else the one that is reached first. &: it has other operands, which must be met, too.',
  'LEFT: how far the value is from the limit.',
  'BEFORE: the last values. The highest block is at least 5% of the capacity above the lowest one.',
  '#: the place in the order of eviction.',
];

/** A line that the screen shows beside the status. */
export interface Note extends Line {
  readonly text: string;
}

/** The lines of a screen, and the view with no more scrolled out than there is. */
export function frame(
  status: StatusDocument,
  view: View,
  drawing: Drawing & { readonly rows: number },
  note: Note | undefined,
): { readonly lines: readonly string[]; readonly view: View } {
  const rows = Math.max(1, drawing.rows - (note === undefined ? 1 : 2));
  const body = view.isHelp
    ? part(helpLines(drawing.columns), rows, view.skip)
    : (PAGES[view.page] ?? PAGES[0]).draw(status, { ...drawing, rows }, view.skip);
  const padded = [...body.lines.slice(0, rows), ...Array<Line>(Math.max(0, rows - body.lines.length)).fill(EMPTY)];
  const lines = drawn([...padded, ...(note === undefined ? [] : [note]), bar(view, status, drawing)], drawing);
  return { lines, view: { ...view, skip: body.skip } };
}

function helpLines(columns: number): Line[] {
  const keys = KEYS.map(({ help }): Line => ({ text: help }));
  return [{ text: 'evictd top' }, EMPTY, ...keys, EMPTY, ...LEGEND.flatMap((text) => paragraph(text, columns))];
}

function bar({ page, isHelp }: View, { time }: StatusDocument, { columns }: Drawing): Line {
  const pages = PAGES.map(({ name }, index) =>
    index === page && !isHelp ? `[${String(index + 1)} ${name}]` : `${String(index + 1)} ${name}`,
  );
  const text = `${pages.join(' ')}  s sort  ${isHelp ? '[? help]' : '? help'}  q quit`;
  const clock = clockTime(time);
  return { text: text.length + clock.length + 2 > columns ? text : text.padEnd(columns - clock.length) + clock, colour: 'dim' };
}
