import { expect, test } from 'vitest';
import type { Style } from '../../../src/cli/output/style.js';
import { sparkline } from '../../../src/features/status/sparkline.js';
import type { StatusDocument } from '../../../src/features/status/status-document.js';
import { statusScreen, type Drawing } from '../../../src/features/status/status-screen.js';

const MI = 1024 * 1024;
const plain: Style = (_colour, text) => text;
const marked: Style = (colour, text) => `${colour}:${text}`;
const TODAY = new Date();
TODAY.setHours(12, 34, 56, 0);
const AT = TODAY.toISOString();

const STATUS: StatusDocument = {
  apiVersion: 'v1',
  time: AT,
  evictd: {
    version: '1.2.3',
    pid: 7,
    startedAt: AT,
    dryRun: false,
    safeMode: null,
    shuttingDown: false,
    configuration: { files: [], inForceSince: AT, refused: false },
  },
  node: { name: 'machine', cgroup: null, cgroupVersion: 2 },
  signals: [
    { signal: 'memory.available', unit: 'bytes', operator: '<', value: 150 * MI, capacity: 1024 * MI, ageSeconds: 1, history: [3, 2, 1] },
    { signal: 'pid.available', unit: 'processes', operator: '<', value: null, capacity: null, ageSeconds: null, history: [] },
  ],
  historyAgesSeconds: [3, 2, 1],
  thresholds: [
    {
      when: 'memory.available<100Mi',
      kind: 'hard',
      met: false,
      operands: [{ signal: 'memory.available', limit: 100 * MI, distance: 50 * MI }],
      graceSeconds: 0,
      since: null,
      actsInSeconds: null,
    },
    {
      when: 'memory.available<200Mi',
      kind: 'soft',
      met: true,
      operands: [{ signal: 'memory.available', limit: 200 * MI, distance: -50 * MI }],
      graceSeconds: 30,
      since: AT,
      actsInSeconds: 20,
    },
  ],
  conditions: [{ type: 'MemoryPressure', status: 'True', clearsInSeconds: 240 }],
  pressure: null,
  candidates: {
    signal: 'memory.available',
    total: 60,
    workloads: Array.from({ length: 50 }, (_, index) => ({
      place: index + 1,
      name: `w${String(index + 1)}`,
      path: '/w',
      priority: 0,
      usage: 10 * MI,
      request: 0,
      exceedsRequest: true,
      growth: index === 0 ? 2 * MI : null,
      protection: index === 1 ? 'critical' : null,
    })),
    unreadable: [],
  },
  evictions: [
    {
      decision: 3,
      name: 'a\u001b[31m',
      path: '/a',
      phase: 'terminating',
      phaseSeconds: 2,
      killsInSeconds: 3,
      usageBytes: MI,
      processes: 1,
      message: '',
    },
  ],
  decisions: Array.from({ length: 32 }, (_, index) => ({
    time: AT,
    type: 'outcome',
    decision: index,
    message: `evicted ${String(index)}`,
  })),
  budget: { max: 5, windowSeconds: 600, resources: [{ resource: 'memory', remaining: 1, freeInSeconds: null }] },
  pauses: [{ kind: 'leak', message: 'a pause' }],
  policies: [{ name: 'p', when: 'x', steps: ['freeze', 'kill'], active: [{ scope: '/s', state: 'acting', step: 0, secondsLeft: 4 }] }],
  heldUnits: [{ unit: 'u.service', decision: 1, startsInSeconds: 60 }],
  notifiers: [{ mechanism: 'sampler', signal: 'memory.available', target: 't', live: false, essential: true, reason: 'r' }],
  problems: [{ code: 'C', message: 'm', hint: 'h' }],
};

const draw = (over: Partial<StatusDocument> = {}, drawing: Partial<Drawing> = {}): string[] =>
  statusScreen({ ...STATUS, ...over }, { columns: 100, rows: undefined, unicode: true, style: plain, ...drawing });

test('the whole of it', () => {
  const lines = draw();
  expect(lines.slice(0, 16)).toEqual(
    [
      'evictd 1.2.3 guards machine, process 7 since 12:34:56',
      'a pause',
      '',
      'SIGNAL             VALUE    OF        LIMIT  LEFT  BEFORE',
      'memory.available  150MiB  1GiB  200MiB soft   met  █▅▁',
      'pid.available          ?     ?            -',
      '',
      'conditions: MemoryPressure (clears in 4m0s)',
      'memory.available<200Mi (soft) is met; evictd acts in 20s',
      'eviction 3 of a\\x1b[31m: terminating for 2s, SIGKILL in 3s; uses 1MiB',
      'policy p on /s acts: freeze, step 1 of 2 (4s left)',
      'u.service is kept stopped for 1m0s',
      '',
      '#  WORKLOAD  PRIORITY  USAGE  REQUEST  GROWTH/S  the order of eviction for memory.available, 1 to 10 of 60',
      '1  w1               0  10MiB        -     +2MiB',
      '-  w2               0  10MiB        -         -  not evicted: critical',
    ].map((line) => (line.length > 100 ? `${line.slice(0, 99)}…` : line)),
  );
  expect(lines.slice(-3)).toEqual(['eviction budget: 1 of 5 left for memory', 'notifier sampler on t is not live: r', 'm (h)']);
});

test.each([
  [80, 23],
  [80, 24],
  [40, 10],
  [132, 50],
  [200, 60],
])('on %i×%i no line is cut off by the terminal, and the end is there', (columns, rows) => {
  const lines = draw({}, { columns, rows });
  expect(lines.length).toBeLessThanOrEqual(rows);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
  if (rows >= 24) {
    expect(lines).toHaveLength(rows);
    expect(lines.at(-1)).toBe('m (h)');
    expect(lines.some((line) => line.endsWith('evicted 0'))).toBe(true);
  }
});

test('what is met or wrong has a colour', () => {
  const colours = draw({}, { style: marked }).map((line) => /^(?:(\w+):)?/.exec(line)?.[1]);
  expect(colours.slice(0, 13)).toEqual([
    undefined,
    'red',
    undefined,
    'dim',
    'yellow',
    'yellow',
    undefined,
    'yellow',
    'yellow',
    'red',
    'yellow',
    'yellow',
    undefined,
  ]);
});

test.each<[rule: string, over: Partial<StatusDocument>, line: string]>([
  ['no evictd', { evictd: null }, 'no evictd guards this node (machine): this is read from the node itself'],
  [
    'no workload',
    { candidates: { ...STATUS.candidates, total: 0, workloads: [] } },
    'the order of eviction for memory.available: there is no workload',
  ],
  ['no condition', { conditions: [] }, 'conditions: none'],
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

test('of two thresholds that are met the hard one is shown', () => {
  const [hard, soft] = STATUS.thresholds;
  if (hard === undefined || soft === undefined) throw new Error('no thresholds');
  const operands = [{ signal: 'memory.available', limit: 100 * MI, distance: -MI }] as const;
  expect(draw({ thresholds: [soft, { ...hard, met: true, operands }] }).some((line) => /100MiB hard +met/.test(line))).toBe(true);
});

test('candidates that are scrolled out', () => {
  const lines = draw({}, { rows: 40, skip: 45 });
  expect(lines.some((line) => line.includes(' w50 '))).toBe(true);
  expect(lines.some((line) => line.includes(' w1 '))).toBe(false);
});

test.each<[rule: string, values: (number | null)[], width: number, unicode: boolean, line: string]>([
  ['from the lowest to the highest', [0, 50, 100], 9, true, '▁▅█'],
  ['the last ones', [0, 100, 0, 100], 2, true, '▁█'],
  ['a value that does not change', [7, 7], 9, true, '▄▄'],
  ['no value', [0, null, 100], 9, true, '▁ █'],
  ['one value is no line', [null, 7], 9, true, ''],
  ['without Unicode', [0, 50, 100], 9, false, '_+#'],
])('a sparkline: %s', (_rule, values, width, unicode, line) => {
  expect(sparkline(values, width, unicode)).toBe(line);
});
