import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { StatusDocument } from '../../../src/features/status/status-document.js';
import { live, type LiveParts } from '../../../src/features/status/top/live.js';
import { PAGES } from '../../../src/features/status/top/pages.js';
import { CANDIDATE_ORDERS, type CandidateOrder } from '../../../src/features/status/candidate-order.js';
import { actionOf, FIRST_VIEW, frame, ORDERS, type View } from '../../../src/features/status/top/view.js';
import { STATUS } from './a-status.js';

const drawn = (view: Partial<View>, columns = 80, rows = 24, status: StatusDocument = STATUS) =>
  frame(status, { ...FIRST_VIEW, ...view }, { columns, rows, unicode: true, style: (_colour, text) => text }, undefined);

function after(keys: readonly string[], rows = 22): View {
  return keys.reduce((view, key) => {
    const action = actionOf(key);
    if (typeof action !== 'function') throw new Error(`${key} changes no view`);
    return drawn(action(view, rows)).view;
  }, FIRST_VIEW);
}

test.each(
  [
    [80, 24],
    [200, 50],
    [30, 6],
  ].flatMap(([columns = 0, rows = 0]) => [...PAGES.keys(), 'help'].map((page) => [columns, rows, page] as const)),
)('on %i×%i page %s has the size of the screen', (columns, rows, page) => {
  const { lines } = drawn(page === 'help' ? { isHelp: true } : { page: Number(page) }, columns, rows);
  expect(lines).toHaveLength(rows);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
});

test('no line of the help is cut off at 80 columns', () => {
  expect(drawn({ isHelp: true }, 80, 50).lines.filter((line) => line.includes('…'))).toEqual([]);
});

test.each<[rule: string, keys: string[], view: Partial<View>]>([
  ['a number', ['3'], { page: 2 }],
  ['the last page is followed by the first', ['5', 'right', 'tab'], { page: 1 }],
  ['left selects the previous page', ['left'], { page: 4 }],
  ['another page begins at its top', ['3', 'down', 'down', '4'], { page: 3, skip: 0 }],
  ['scrolling', ['3', 'down', 'j', 'k'], { skip: 1 }],
  ['scrolling stops at the top', ['3', 'up', 'down'], { skip: 1 }],
  ['scrolling stops at the end: 50 workloads, 21 in sight', ['3', 'end', 'down', 'up'], { skip: 28 }],
  ['a screen', ['3', 'pagedown', 'home', 'space'], { skip: 21 }],
  ['help and back', ['?', 'escape', '?'], { isHelp: true }],
  ['a page closes the help', ['?', '2'], { isHelp: false, page: 1 }],
])('a key in top: %s', (_rule, keys, view) => {
  expect(after(keys)).toMatchObject(view);
});

test('s requests the next order, and the title shows the order of the answer', () => {
  expect(['s', 's', 's', 's', 's', 's'].map((_, count) => ORDERS[after(Array<string>(count + 1).fill('s')).order])).toEqual([
    ...CANDIDATE_ORDERS,
    undefined,
  ]);
  const title = (order: CandidateOrder | null): string | undefined =>
    drawn({ page: 2 }, 80, 24, { ...STATUS, candidates: { ...STATUS.candidates, order } }).lines[0];
  expect(title('usage')).toBe('the order of eviction for memory.available, by usage, 1 to 21 of 60');
  expect(title(null)).toBe('the order of eviction for memory.available, 1 to 21 of 60');
});

test.each<[rule: string, page: number, line: RegExp]>([
  ['a threshold that is not met: what is left', 1, /^memory\.available<100Mi +hard +0s +50MiB left$/],
  [
    'a met threshold: since when, and when its grace period ends',
    1,
    /^memory\.available<200Mi +soft +30s +met since 12:34:56, grace ends in 20s$/,
  ],
  ['a condition', 1, /^MemoryPressure +True, clears in 4m0s$/],
  ['an eviction in flight', 3, /^eviction 3 of a\\x1b\[31m: terminating for 2s, SIGKILL in 3s; uses 1MiB$/],
  ['a workload: its processes', 3, /^ {2}\/a, processes: 1$/],
  ['the budget of each resource', 4, /^eviction budget for memory: 1 of 5 left in 10m0s$/],
  ['a policy, also an idle one', 4, /^policy p: when x, then freeze, kill$/],
  ['a notifier', 4, /^sampler +memory\.available +not live: r +t$/],
  ['a problem', 4, /^C: m \(h\)$/],
])('%s', (_rule, page, line) => {
  expect(drawn({ page }, 80, 60).lines).toContainEqual(expect.stringMatching(line));
});

/** A terminal that remembers what it was asked for. */
function terminal(): Pick<LiveParts, 'input' | 'output'> & { written: () => string; modes: boolean[] } {
  let text = '';
  const modes: boolean[] = [];
  const input = Object.assign(new EventEmitter(), {
    setRawMode: (raw: boolean) => void modes.push(raw),
    ...{ resume: () => undefined, pause: () => undefined },
  }) as unknown as LiveParts['input'];
  const output = Object.assign(new EventEmitter(), {
    ...{ columns: 80, rows: 24 },
    write: (part: string) => (text += part) !== '',
  }) as unknown as LiveParts['output'];
  return { input, output, written: () => text, modes };
}

test.each<[how: string, first: StatusDocument, key: string, error: string | undefined]>([
  ['q', STATUS, 'q', undefined],
  ['a defect while it draws', { ...STATUS, historyAgesSeconds: null } as unknown as StatusDocument, '2', 'iterable'],
])('the terminal is restored after %s', async (_how, first, key, error) => {
  const { input, output, written, modes } = terminal();
  const shown = live({
    ...{ io: { isTTY: true, env: {} }, drawing: { unicode: true, style: (_colour, text) => text }, intervalMs: 60_000 },
    ...{ first, signal: undefined, warning: 'a warning', input, output, errorText: String, onStop: () => undefined },
    read: () => Promise.resolve(first),
  });
  input.emit('keypress', key, { name: key });
  if (error === undefined) await shown;
  else await expect(shown).rejects.toThrow(error);
  expect(written()).toMatch(/\[\?1049h[^]*a warning[^]*\[1 overview\][^]*\[\?7h[^]*\[\?25h[^]*\[\?1049l$/);
  expect(modes).toEqual([true, false]);
  expect(process.listeners('SIGTSTP')).toEqual([]);
});
