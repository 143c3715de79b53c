import { expect, test } from 'vitest';
import { textColumns } from '../../../src/cli/output/text-columns.js';
import type { Style } from '../../../src/cli/output/style.js';
import { sparkline } from '../../../src/features/status/sparkline.js';
import type { StatusDocument } from '../../../src/features/status/status-document.js';
import type { Drawing } from '../../../src/features/status/screen-line.js';
import { overview, statusScreen } from '../../../src/features/status/status-screen.js';
import { AT, MI, STATUS } from './a-status.js';

const plain: Style = (_colour, text) => text;
const marked: Style = (colour, text) => `${colour}:${text}`;

const draw = (over: Partial<StatusDocument> = {}, drawing: Partial<Drawing> = {}): string[] =>
  statusScreen({ ...STATUS, ...over }, { columns: 100, rows: undefined, unicode: true, style: plain, ...drawing });

test('the screen shows everything', () => {
  const lines = draw();
  expect(lines.slice(0, 23)).toEqual(
    [
      'evictd 1.2.3 guards machine, process 7 since 12:34:56',
      'a pause',
      '',
      'SIGNAL             VALUE    OF        LIMIT  LEFT  BEFORE',
      'memory.available  150MiB  1GiB  200MiB soft   met  █▄▁',
      'pid.available          ?     ?            -',
      '',
      'conditions: MemoryPressure (clears in 4m0s)',
      'taint node.kubernetes.io/unschedulable:NoSchedule',
      'taint maintenance=yes:NoExecute',
      'web is evicted at 12:34:56 for it',
      'draining: 4 of 9 workloads have ended; being evicted: 1, waiting: 4',
      'web-1, web-2, web-3 and 1 more wait: a budget',
      'disruption budget web: 1 of 4 healthy, 2 desired, 0 may be evicted',
      'memory.available<200Mi (soft) is met; its grace period ends in 20s',
      'eviction 3 of a\\x1b[31m: terminating for 2s, SIGKILL in 3s; uses 1MiB',
      'policy p on /s acts: freeze, step 1 of 2 (4s left)',
      'u.service is kept stopped for 1m0s',
      '',
      'the order of eviction for memory.available, 1 to 10 of 60',
      '#  WORKLOAD  PRIORITY  USAGE  REQUEST  GROWTH/S',
      '1  w1               0  10MiB        -     +2MiB',
      '-  w2               0  10MiB        -         -  not evicted: critical',
    ].map((line) => (line.length > 100 ? `${line.slice(0, 99)}…` : line)),
  );
  expect(lines.slice(-3)).toEqual(['eviction budget: 1 of 5 left for memory', 'notifier sampler on t is not live: r', 'm (h)']);
});

test('the screen shows an API server, the age of its pods, and its problems', () => {
  const server = { node: 'n', server: 'https://s:6443', answers: true, problem: null, pods: 2, podsAgeSeconds: 9.5 };
  expect(draw({ kubernetes: server })).toContain('API server https://s:6443: pods of n: 2, confirmed 9s ago');
  const none = { ...server, server: null, answers: false, problem: 'why', podsAgeSeconds: null };
  expect(draw({ kubernetes: none }, { style: marked })).toEqual(expect.arrayContaining(['API server: no pod is known', 'yellow:why']));
});

test.each([
  [80, 23],
  [80, 27],
  [40, 10],
  [132, 50],
  [200, 60],
])('on %i×%i the terminal cuts no line, and the end is visible', (columns, rows) => {
  const lines = draw({}, { columns, rows });
  expect(lines.length).toBeLessThanOrEqual(rows);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
  if (rows >= 27) {
    expect(lines).toHaveLength(rows);
    expect(lines.at(-1)).toBe('m (h)');
    expect(lines.some((line) => line.endsWith('evicted 0'))).toBe(true);
  }
});

test('met thresholds and problems are coloured', () => {
  const colours = draw({}, { style: marked }).map((line) => /^(?:(\w+):)?/.exec(line)?.[1]);
  expect(colours.slice(0, 19)).toEqual([
    undefined,
    'red',
    undefined,
    'dim',
    'yellow',
    'yellow',
    undefined,
    'yellow',
    'yellow',
    'yellow',
    'red',
    'yellow',
    'yellow',
    'yellow',
    'yellow',
    'red',
    'yellow',
    'yellow',
    undefined,
  ]);
});

test.each<[rule: string, over: Partial<StatusDocument>, line: string]>([
  ['there is no evictd', { evictd: null }, 'no evictd guards this node (machine): values are read now'],
  [
    'there is no workload',
    { candidates: { ...STATUS.candidates, total: 0, workloads: [] } },
    'the order of eviction for memory.available: there is no workload',
  ],
  [
    'a budget without workloads',
    { disruptionBudgets: [{ name: 'typo', expected: 0, currentHealthy: 0, desiredHealthy: 1, disruptionsAllowed: 0 }] },
    'disruption budget typo matches no workload that has a process',
  ],
  ['there is no condition', { conditions: [] }, 'conditions: none'],
  [
    'a dry run',
    { evictd: STATUS.evictd && { ...STATUS.evictd, dryRun: true } },
    'evictd 1.2.3 makes a dry run on machine, process 7 since 12:34:56',
  ],
  [
    'a refused configuration',
    { evictd: STATUS.evictd && { ...STATUS.evictd, configuration: { files: [], inForceSince: AT, refused: true } } },
    'the last configuration has errors and is not in force: evictd config check',
  ],
])('%s', (_rule, over, line) => {
  expect(draw(over)).toContain(line);
});

test('the hard one of two met thresholds is shown', () => {
  const [hard, soft] = STATUS.thresholds;
  if (hard === undefined || soft === undefined) throw new Error('no thresholds');
  const operands = [{ signal: 'memory.available', limit: 100 * MI, distance: -MI }] as const;
  expect(draw({ thresholds: [soft, { ...hard, met: true, operands }] }).some((line) => /100MiB hard +met/.test(line))).toBe(true);
});

test('candidates can be scrolled out of the screen', () => {
  const { lines, skip } = overview(STATUS, { columns: 100, rows: 40, unicode: true, style: plain }, 45);
  expect(lines.some(({ text }) => text.includes(' w50 '))).toBe(true);
  expect(lines.some(({ text }) => text.includes(' w1 '))).toBe(false);
  expect(skip).toBe(50 - lines.filter(({ text }) => /^ *[-\d]+ +w\d/.test(text)).length);
});

test.each<[rule: string, name: string, shown: string]>([
  ['ASCII', 'n'.repeat(60), `${'n'.repeat(23)}…`],
  ['wide characters', '\u6f22'.repeat(60), `${'\u6f22'.repeat(11)}…`],
  ['emoji', '\u{1f600}'.repeat(60), `${'\u{1f600}'.repeat(11)}…`],
  ['combining marks', 'e\u0301'.repeat(60), `${'e\u0301'.repeat(23)}…`],
])('a long name is cut by its columns, and the other columns stay aligned: %s', (_rule, name, shown) => {
  const [first, second] = STATUS.candidates.workloads;
  if (first === undefined || second === undefined) throw new Error('no workloads');
  const lines = draw({ candidates: { ...STATUS.candidates, workloads: [{ ...first, name }, second] } }, { columns: 80 });
  const rows = lines.filter((line) => line.includes(' 10MiB '));
  expect(rows[0]).toContain(`1  ${shown}`);
  expect(new Set(rows.map((row) => textColumns(row.slice(0, row.indexOf(' 10MiB '))))).size).toBe(1);
});

test.each<[rule: string, values: (number | null)[], capacity: number, width: number, unicode: boolean, line: string]>([
  ['it reaches from the lowest to the highest value', [0, 50, 100], 1000, 9, true, '▁▄█'],
  ['it shows the last values', [0, 100, 0, 100], 1000, 2, true, '▁█'],
  ['a value that does not change', [7, 7], 1000, 9, true, '▄▄'],
  ['a change of less than 5% of the capacity', [360, 361, 359], 512, 9, true, '▄▄▄'],
  ['the same, of 2.5%', [350, 375], 1000, 9, true, '▂▆'],
  ['an unknown capacity', [360, 361, 359], 0, 9, true, '▄█▁'],
  ['there is no value', [0, null, 100], 1000, 9, true, '▁ █'],
  ['one value gives no line', [null, 7], 1000, 9, true, ''],
  ['the terminal has no Unicode', [0, 50, 100], 1000, 9, false, '_=#'],
])('a sparkline: %s', (_rule, values, capacity, width, unicode, line) => {
  expect(sparkline(values, capacity, width, unicode)).toBe(line);
});
