import { appendFileSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../../src/cli/output/error-text.js';
import { history as historyCommand } from '../../../src/features/history/command.js';
import { follow } from '../../../src/features/history/follow.js';
import { TYPES } from '../../../src/features/history/history-query.js';
import { InputError, UsageError } from '../../../src/errors.js';
import { Ring } from '../../../src/journal/journal-ring.js';
import { ran } from '../../cli/support.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const NOW = Date.parse('2026-11-21T09:00:00Z');

let directory: string;
let ring: Ring | undefined;
beforeEach(() => {
  directory = temporaryDirectory();
  mkdirSync(join(directory, 'state'));
  mkdirSync(join(directory, 'run'));
});
afterEach(() => {
  ring?.close();
  ring = undefined;
});

const at = (clock: string): string => `2026-11-21T${clock}Z`;
const victimOf = (name: string) => ({ name, path: `/work.slice/${name}`, id: `/work.slice/${name}#1` });
const line = (clock: string, type: string, fields: object): string => JSON.stringify({ time: at(clock), type, node: 'machine', ...fields });
const decision = (clock: string, serial: number, name: string, fields: object = {}): string =>
  line(clock, 'decision', {
    decision: serial,
    dryRun: false,
    signal: 'memory.available',
    kind: 'hard',
    threshold: '64Mi',
    thresholdValue: 67_108_864,
    available: 66_682_880,
    capacity: 268_435_456,
    victim: victimOf(name),
    action: 'SIGKILL',
    graceSeconds: 0,
    ranking: [],
    message: `evicting ${name}`,
    ...fields,
  });
const outcome = (clock: string, serial: number, name: string, fields: object = {}): string =>
  line(clock, 'outcome', {
    decision: serial,
    result: 'killed',
    signal: 'memory.available',
    victim: victimOf(name),
    expectedBytes: 109_740_032,
    freedBytes: 111_046_656,
    spansMs: { crossingToSignal: 5.37, signalToExit: 18.324 },
    message: `evicted ${name}`,
    ...fields,
  });
const oomKill = (clock: string, fields: object): string =>
  line(clock, 'kernel-oom', { limit: 'workload', process: { pid: 7, name: 'tail' }, message: 'the kernel killed tail', ...fields });

const JOURNAL = [
  line('08:00:00.000', 'start', { version: '1', dryRun: false, message: 'evictd 1 starts' }),
  line('08:10:00.000', 'threshold', { met: true, signal: 'memory.available', message: 'memory.available 63.5MiB < 64Mi (hard)' }),
  decision('08:10:00.001', 1, 'batch-a'),
  outcome('08:10:00.025', 1, 'batch-a'),
  oomKill('08:20:00.000', { workload: { name: 'web', path: '/work.slice/web' } }),
  oomKill('08:20:01.000', { limit: 'node', count: 3, message: 'the kernel killed 3 processes' }),
  decision('08:30:00.000', 2, 'web', { signal: 'pid.available', threshold: '100', available: 80, action: 'SIGTERM', graceSeconds: 30 }),
  line('08:30:30.000', 'escalation', { decision: 2, victim: victimOf('web'), reason: 'grace period over' }),
  outcome('08:30:40.000', 2, 'web', {
    result: 'failed',
    signal: 'pid.available',
    processesLeft: 2,
    freedBytes: 0,
    spansMs: { crossingToSignal: 1, signalToExit: 40_000, killToExit: 10_000 },
  }),
  line('08:40:00.000', 'alert', {
    alert: 'nothing-evictable',
    signal: 'memory.available',
    message: 'there is no workload that may be evicted',
  }),
  decision('08:50:00.000', 3, 'batch-b', { dryRun: true }),
];
const write = (lines: readonly string[], name = 'journal.jsonl'): void =>
  writeFileSync(join(directory, 'state', name), lines.map((each) => `${each}\n`).join(''));

async function history(...args: string[]): Promise<{ out: string; said: string; error: unknown }> {
  const place = ['--state-directory', join(directory, 'state'), '--runtime-directory', join(directory, 'run')];
  let [out, said] = ['', ''];
  const ended = await ran(
    (io) =>
      historyCommand({
        io: { ...io, stdout: (text) => void (out += text), stderr: (text) => void (said += text) },
        nowMs: () => NOW,
      }),
    [...place, ...args],
  );
  return { out, said, error: ended.error };
}
const shown = async (...args: string[]): Promise<string[]> => {
  const { out } = await history('--utc', ...args);
  return out
    .split('\n')
    .filter(Boolean)
    .map((each) => each.slice('2026-11-21 '.length));
};

test('a line for each eviction, alert and OOM kill; other records only with --all', async () => {
  write(JOURNAL);
  expect(await shown()).toEqual([
    '08:10:00.001Z  evicted      batch-a by SIGKILL: memory.available 63.5MiB < 64Mi (hard); freed 105MiB; signal after 5.37 ms, gone 18.32 ms later',
    '08:20:00.000Z  kernel-oom   the kernel killed tail',
    '08:20:01.000Z  kernel-oom   the kernel killed 3 processes',
    '08:30:00.000Z  failed       web by SIGTERM (30 s), then SIGKILL (grace period over): pid.available 80 processes < 100 (hard); 2 processes remain; signal after 1 ms, gone 40000 ms later, 10000 ms after SIGKILL',
    '08:40:00.000Z  alert        there is no workload that may be evicted',
    '08:50:00.000Z  would evict  batch-b by SIGKILL: memory.available 63.5MiB < 64Mi (hard)',
  ]);
  expect(await shown('--all')).toHaveLength(8);
  expect(await shown('--reverse')).toEqual((await shown()).toReversed());
});

test("an operator's request is shown from its beginning to its end", async () => {
  const asked = ['pause', 'resume', 'taint', 'drain'];
  write(asked.map((type) => line('08:10:00.000', type, { message: `it is a ${type}` })));
  expect(await shown()).toEqual(asked.map((type) => expect.stringContaining(`it is a ${type}`) as string));
});

const clocks = async (...args: string[]): Promise<string[]> => (await shown(...args)).map((each) => each.slice(0, 5));
test.each<[args: string[], clocks: string[]]>([
  [
    ['--since', '31m'],
    ['08:30', '08:40', '08:50'],
  ],
  [
    ['--since', at('08:20:00')],
    ['08:20', '08:20', '08:30', '08:40', '08:50'],
  ],
  [
    ['--since', at('08:20:00.001')],
    ['08:20', '08:30', '08:40', '08:50'],
  ],
  [['--until', at('08:10:00.001')], ['08:10']], // its outcome came later
  [
    ['--since', at('08:30:00.001')],
    ['08:30', '08:40', '08:50'],
  ], // decided before, ended in this time
  [
    ['--workload', 'batch-*'],
    ['08:10', '08:50'],
  ],
  [
    ['--workload', '/work.slice/web'],
    ['08:20', '08:30'],
  ],
  [
    ['--workload', 'web,batch-a'],
    ['08:10', '08:20', '08:30'],
  ],
  [['--workload', 'we'], []],
  [['--signal', 'pid.available'], ['08:30']],
  [
    ['--signal', 'pid.available', '--signal', 'memory.available'],
    ['08:10', '08:30', '08:40', '08:50'],
  ],
  [
    ['--result', 'killed,failed'],
    ['08:10', '08:30'],
  ],
  [['--result', 'dry-run'], ['08:50']],
  [
    ['--type', 'kernel-oom'],
    ['08:20', '08:20'],
  ],
  [
    ['--type', 'decision'],
    ['08:10', '08:30', '08:50'],
  ], // the parts of an eviction are one
  [
    ['--type', 'threshold,start'],
    ['08:00', '08:10'],
  ],
  [['--type', 'torn'], []],
  [
    ['-n', '2'],
    ['08:40', '08:50'],
  ],
  [
    ['-n', '2', '--reverse'],
    ['08:50', '08:40'],
  ],
  [['-n', '1', '--type', 'eviction', '--result', 'failed'], ['08:30']],
  [
    ['-n', '99'],
    ['08:10', '08:20', '08:20', '08:30', '08:40', '08:50'],
  ],
])('%j', async (args, found) => {
  write(JOURNAL);
  expect(await clocks(...args)).toEqual(found);
});

test('history -o json prints one array of evictions and records', async () => {
  write(JOURNAL);
  const { out } = await history('-o', 'json', '--type', 'eviction,kernel-oom');
  const [first, kill, , failed] = JSON.parse(out) as object[];
  expect(first).toMatchObject({
    type: 'eviction',
    time: at('08:10:00.001'),
    node: 'machine',
    result: 'killed',
    dryRun: false,
    victim: { name: 'batch-a' },
    decision: { type: 'decision', ranking: [] },
    outcome: { type: 'outcome', freedBytes: 111_046_656 },
  });
  expect(kill).toEqual(JSON.parse(JOURNAL[4] ?? ''));
  expect(failed).toMatchObject({ result: 'failed', escalation: { reason: 'grace period over' } });
  expect(out.split('\n')).toHaveLength(5 + 3); // an element a line
  expect((await history('-o', 'json', '--type', 'torn')).out).toBe('[]\n');
});

test('the summary counts evictions and OOM kills by workload', async () => {
  write(JOURNAL);
  const { out } = await history('--utc', '--summary');
  expect(out.replaceAll(/ +/g, ' ').split('\n')).toEqual([
    'from 2026-11-21 08:10:00.001Z to 2026-11-21 08:50:00.000Z',
    '',
    'evictions 1 killed, 1 failed, 1 dry-run; freed 105MiB',
    'OOM kills 3 node, 1 workload; node: evictd was too late, or found no workload to evict',
    'alerts 1 nothing-evictable',
    '',
    'WORKLOAD EVICTED NOT EVICTED FREED OOM NODE OOM WORKLOAD OOM OTHER LAST SIGNALS',
    'batch-a 1 - 105MiB - - - 2026-11-21 08:10:00.001Z memory.available',
    '(no workload) - - - 3 - - 2026-11-21 08:20:01.000Z',
    'web - 1 - - 1 - 2026-11-21 08:30:00.000Z pid.available',
    'batch-b - 1 - - - - 2026-11-21 08:50:00.000Z memory.available',
    '',
  ]);
  expect(JSON.parse((await history('--summary', '-o', 'json')).out)).toMatchObject({
    evictions: { killed: 1, failed: 1, 'dry-run': 1 },
    freedBytes: 111_046_656,
    oomKills: { node: 3, workload: 1, other: 0, unknown: 0 },
    alerts: { 'nothing-evictable': 1 },
    workloads: [{ name: 'batch-a', evictions: { killed: 1 } }, { name: '(no workload)' }, { name: 'web' }, { name: 'batch-b' }],
  });
  expect((await history('--summary', '--type', 'torn')).out).toBe('no records in this time\n');
});

test('OOM kills while evictd did not run are the growth of the counter between two runs of a boot', async () => {
  const run = (clock: string, type: string, oomKillsCounted: number, fields: object = {}): string =>
    line(clock, type, { oomKillsCounted, ...fields, message: type });
  write([
    run('08:00:00.000', 'start', 5, { bootId: 'a' }), // of the time before nothing is known
    run('08:01:00.000', 'kernel-oom', 6, { limit: 'node' }),
    run('08:02:00.000', 'stop', 6),
    run('08:03:00.000', 'start', 8, { bootId: 'a' }),
    run('08:03:30.000', 'start', 99, { bootId: 'a', dryRun: true }),
    run('08:04:00.000', 'kernel-oom', 11, { limit: 'workload', count: 3 }), // killed, and no stop
    run('08:05:00.000', 'start', 12, { bootId: 'a' }),
    run('08:06:00.000', 'start', 40, { bootId: 'b' }),
    run('08:07:00.000', 'start', 1, { bootId: 'b' }), // the cgroup was made again
  ]);
  expect((await history('--summary')).out).toMatch(/^ +and 3 while evictd did not run/m);
  expect(JSON.parse((await history('--summary', '-o', 'json')).out)).toMatchObject({
    oomKillsUnseen: 3,
    oomKills: { node: 1, workload: 3 },
  });
  expect((await history('--summary', '--type', 'alert', '-o', 'json')).out).not.toContain('oomKillsUnseen');
});

test('rotated files come first, the oldest before the others, and other files are not read', async () => {
  write([decision('08:03:00.000', 4, 'd')]);
  write([decision('08:02:00.000', 3, 'c')], 'journal.jsonl.1');
  write([decision('08:01:00.000', 2, 'b')], 'journal.jsonl.2');
  write([decision('08:00:00.000', 1, 'a')], 'journal.jsonl.10');
  write(['no journal'], 'journal.jsonl.old');
  linkSync(join(directory, 'state/journal.jsonl.1'), join(directory, 'state/journal.jsonl.3')); // moved on between two looks at it
  expect(await clocks()).toEqual(['08:00', '08:01', '08:02', '08:03']);
  const { said } = await history();
  expect(said).toBe('');
});

test('records that only the runtime directory has are shown, and records that were moved meanwhile only once', async () => {
  write([decision('08:00:00.000', 1, 'a'), outcome('08:00:01.000', 1, 'a')]);
  ring = new Ring(join(directory, 'run/journal-machine'), 64 * 1024);
  for (const text of [decision('08:00:00.000', 1, 'a'), outcome('08:00:01.000', 1, 'a')]) ring.append(text);
  ring.drained(1n); // the outcome is written, and not marked yet
  ring.append(decision('08:05:00.000', 2, 'b'));
  expect(await shown()).toEqual([
    expect.stringMatching(/^08:00:00.000Z {2}evicted {6}a by /),
    expect.stringMatching(/^08:05:00.000Z {2}in flight {4}b by /),
  ]);
  expect(await clocks('--reverse')).toEqual(['08:05', '08:00']);
  rmSync(join(directory, 'state/journal.jsonl'));
  expect(await clocks()).toEqual(['08:00', '08:05']); // an outcome, and a decision
});

test('lines that are not records are counted and skipped', async () => {
  write(JOURNAL);
  const file = join(directory, 'state/journal.jsonl');
  appendFileSync(
    file,
    `{"time":"2026-11-21T08:55:00.000Z","type":"deci\n${decision('08:56:00.000', 4, 'c')}\nno json\n{"time":"yesterday","type":"alert"}\n[]\n`,
  );
  appendFileSync(file, `${outcome('08:57:00.000', 4, 'c').slice(0, 60)}${'\0'.repeat(9000)}`);
  for (const order of [[], ['--reverse']]) {
    const { out, said, error } = await history('--since', '10m', ...order);
    expect(out).toMatch(/in flight {4}c by SIGKILL/);
    expect(said).toBe(`evictd: ${file}: skipped 5 lines that are not records: torn by a crash, being written, or not from evictd\n`);
    expect(error).toBeUndefined();
  }
});

test('a search without a match is reported, and is not an error', async () => {
  write(JOURNAL);
  expect(await history('--workload', 'absent')).toEqual({
    out: '',
    said: expect.stringMatching(
      /^evictd: no record matches; the journal has 11: 3 decision, 2 kernel-oom, .*1 threshold \(--all shows every type\)\n$/,
    ) as string,
    error: undefined,
  });
});

test('a missing journal is not an error', async () => {
  const places = ['--state-directory', '/nonexistent', '--runtime-directory', '/nonexistent'];
  expect(await history(...places)).toMatchObject({
    out: '',
    said: expect.stringMatching(/^evictd: there is no journal in \/nonexistent yet/) as string,
  });
  expect(await history(...places, '-o', 'json')).toMatchObject({ out: '[]\n', error: undefined });
});

const rows = [
  {
    place: 1,
    name: 'batch',
    path: '/work.slice/batch',
    exceedsRequest: true,
    priority: -10,
    aboveRequestBytes: 1048576,
    workingSetBytes: 1048576,
  },
  { place: 2, name: 'web', path: '/work.slice/web', exceedsRequest: false, priority: 0, aboveRequestBytes: 0, workingSetBytes: 1 },
];

test('--ranking lists the candidates of an eviction below it, with the reason for each rank', async () => {
  write([decision('08:10:00.000', 1, 'batch', { ranking: rows }), outcome('08:10:01.000', 1, 'batch')]);
  const { out } = await history('--ranking');
  expect(out).toMatch(
    /evicted +batch by SIGKILL.*\n {4}# +WORKLOAD .*\n {4}1 +batch +yes +-10 +1MiB +evicted\n {4}2 +web +no +0 +0B +exceeds-request\n$/,
  );
});

test('the processes of the victim are shown, from the decision or from the outcome', async () => {
  const processes = [{ pid: 7, name: 'java', user: 'app', rssBytes: 1048576 }];
  write([
    decision('08:10:00.000', 1, 'a', { processes }),
    outcome('08:10:01.000', 1, 'a'),
    decision('08:11:00.000', 2, 'b'),
    outcome('08:11:01.000', 2, 'b', { processes: [{ pid: 8, name: 'sh' }] }),
  ]);
  const { out } = await history();
  expect(out).toContain('(hard); java (pid 7, user app, 1MiB); freed');
  expect(out).toContain('(hard); sh (pid 8); freed');
});

test('--follow shows an eviction when it is over, and each new record once', async () => {
  const filter = { since: undefined, until: undefined, workloads: [], signals: [], results: [], types: [], all: false, rankings: false };
  write([decision('08:10:00.000', 1, 'old'), outcome('08:10:01.000', 1, 'old'), decision('08:20:00.000', 2, 'batch')]);
  let out = '';
  let polls = 0;
  const stdoutTaken = (): Promise<boolean> => {
    polls += 1;
    if (polls === 2)
      appendFileSync(
        join(directory, 'state/journal.jsonl'),
        `${outcome('08:31:00.000', 2, 'batch')}\n${line('08:32:00.000', 'alert', { message: 'a new one' })}\n`,
      );
    return Promise.resolve(polls < 4);
  };
  const io = { stdout: (text: string) => void (out += text), stderr: () => undefined, stdoutTaken, isTTY: false, env: {} };
  const place = { stateDirectory: join(directory, 'state'), runtimeDirectory: join(directory, 'run') };
  await follow(io, place, filter, { utc: true }, Date.parse(at('08:25:00.000')));
  expect(out.split('\n').map((each) => each.slice(0, 45).trim())).toEqual(
    ['2026-11-21 08:20:00.000Z  evicted      batch b', '2026-11-21 08:32:00.000Z  alert        a new', ''].map((each) =>
      each.slice(0, 45).trim(),
    ),
  );
});

test('--type takes every type of docs/journal.md', () => {
  const [, rows = ''] = /\n## Types\n(.*?)\n### /s.exec(readFileSync('docs/journal.md', 'utf8')) ?? [];
  const documented = rows.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, type]) => type));
  expect(documented).toContain('hook');
  expect(TYPES.toSorted()).toEqual(['eviction', ...documented].toSorted());
});

test('control characters in untrusted names are escaped', async () => {
  write([line('08:00:00.000', 'alert', { message: 'a\u001b[2Jb\nc\u0085' })]);
  expect(await shown()).toEqual(['08:00:00.000Z  alert        a\\x1b[2Jb\\x0ac\\u0085']);
});

test('files that are named are read as they are', async () => {
  write(JOURNAL.slice(0, 4), 'copy');
  const { out } = await history('--utc', join(directory, 'state/copy'));
  expect(out).toMatch(/^2026-11-21 08:10:00.001Z {2}evicted {6}batch-a by SIGKILL/);
});

test.each<[args: string[], code: string, exit: number, message: string]>([
  [['--since', 'soon'], 'EVICTD_HISTORY_TIME', 64, "--since 'soon' is not a time"],
  [['--until', '2026-02-30'], 'EVICTD_HISTORY_TIME', 64, "--until '2026-02-30' is not a time"],
  [
    ['--since', '2h', '--until', '3h'],
    'EVICTD_HISTORY_TIME',
    64,
    "--since '2h' (2026-11-21T07:00:00.000Z) is after --until '3h' (2026-11-21T06:00:00.000Z)",
  ],
  [['/nonexistent/journal.jsonl'], 'EVICTD_HISTORY_FILE', 66, 'the journal /nonexistent/journal.jsonl cannot be read: ENOENT'],
  [['/'], 'EVICTD_HISTORY_FILE', 66, '/ is not a regular file'],
])('%j ends with %s', async (args, code, exit, message) => {
  const { error } = await history(...args);
  expect(error).toBeInstanceOf(exit === 64 ? UsageError : InputError);
  expect(error).toMatchObject({ code, message });
  expect(exitCodeOf(error)).toBe(exit);
});

test.each<[option: string, value: string, message: string]>([
  ['--result', 'kiled', "'kiled': did you mean killed?"],
  ['--result', 'killed,x', "'x': accepted: killed, ineffective, failed, vanished, abandoned, lost, unseen, in-flight, dry-run"],
  ['--type', 'evictions', "'evictions': did you mean eviction?"],
  ['--signal', 'memory.availabel', "'memory.availabel': did you mean memory.available?"],
])('%s %s is a wrong command line, because no record could match', async (option, value, message) => {
  const { error } = await history(option, value);
  expect(error).toMatchObject({ code: 'commander.invalidArgument', message: expect.stringContaining(message) as string });
});

test('a configuration that was refused is shown with its errors', async () => {
  write([line('08:00:00.000', 'reload-refused', { errors: ['a:1:2: one', 'a:3:4: two'], message: 'refused' })]);
  expect(await shown()).toEqual(['08:00:00.000Z  reload-refused  refused: a:1:2: one; a:3:4: two']);
});

test('a time is a range as long as its precision', async () => {
  write(JOURNAL);
  expect((await history('--since', at('08:20:00.000'), '--until', at('08:20:00.000'))).error).toBeUndefined();
});

test.each(['0', '-1', 'all', '1.5'])('--limit %s is a wrong command line', async (limit) => {
  const { error } = await history('--limit', limit);
  expect(error).toMatchObject({ code: 'commander.invalidArgument' });
});

describe('evictions that other records have pushed out of the journal', () => {
  const ALERT = line('08:12:00.000', 'alert', { alert: 'nothing-evictable', signal: 'memory.available', message: 'no workload' });
  const [first, second, third] = ([1, 2, 3] as const).map((serial) => [
    decision(`08:0${String(serial)}:00.000`, serial, `w${String(serial)}`),
    outcome(`08:0${String(serial)}:01.000`, serial, `w${String(serial)}`),
  ]) as [string[], string[], string[]];
  const thirdInSeries = second.map((text) => text.replace(/\}$/, ',"occurrence":3}'));

  test.each<[rule: string, older: string[], kept: string[], journal: string[], clocks: string[]]>([
    ['are shown, and no record is shown twice', first, [...second, ...third], [ALERT, ...third], ['08:01', '08:02', '08:03', '08:12']],
    [
      'are joined with the records that the journal still has',
      [],
      [...first, ...second],
      [second[1] ?? '', ALERT],
      ['08:01', '08:02', '08:12'],
    ],
    ['are all shown where the journal has none', first, second, [ALERT], ['08:01', '08:02', '08:12']],
    ['are shown while the journal has one that their files lack', first, second, [...third, ALERT], ['08:01', '08:02', '08:03', '08:12']],
    [
      'are not shown where the journal begins earlier',
      [],
      third,
      [...first, ...second, ...third, ALERT],
      ['08:01', '08:02', '08:03', '08:12'],
    ],
    ['are those of the journal where it began before such files existed', [], [], [...first, ALERT], ['08:01', '08:12']],
    ['are shown without a journal', first, second, [], ['08:01', '08:02']],
    [
      'are shown once where the journal begins with a record of a series that is not kept',
      first,
      third,
      [...thirdInSeries, ...third, ALERT],
      ['08:01', '08:02', '08:03', '08:12'],
    ],
  ])('%s', async (_rule, older, kept, journal, expected) => {
    if (older.length > 0) write(older, 'evictions.jsonl.1');
    if (kept.length > 0) write(kept, 'evictions.jsonl');
    if (journal.length > 0) write(journal);
    const inOrder = [...expected].sort();
    expect((await clocks()).toSorted()).toEqual(inOrder);
    expect(await clocks('--reverse')).toEqual((await clocks()).toReversed());
    expect(await shown('--type', 'eviction', '--result', 'in-flight,unseen')).toEqual([]);
    expect(await clocks('-n', '1')).toEqual((await clocks()).slice(-1));
  });

  test('a record in the ring that is not yet in the journal is shown once', async () => {
    write([...first, third[0] ?? ''], 'evictions.jsonl');
    write([ALERT]);
    ring = new Ring(join(directory, 'run/journal-machine'), 64 * 1024);
    ring.append(third[0] ?? '');
    expect(await shown('--type', 'eviction')).toHaveLength(2);
  });
});

test('an eviction of a series shows its number', async () => {
  write([decision('08:10:00.001', 9, 'web-1', { occurrence: 8 }), outcome('08:10:00.025', 9, 'web-1', { occurrence: 8 })]);
  const { out } = await history();
  expect(out).toContain('(hard); its eviction 8 in a series; freed ');
});

test('an eviction names the disruption budgets that it violates', async () => {
  write([decision('08:10:00.001', 1, 'web-1', { violates: ['web'] }), outcome('08:10:00.025', 1, 'web-1')]);
  const { out } = await history();
  expect(out).toContain('(hard); violates the disruption budget web; freed ');
});

test('an eviction by a policy names the policy, its cgroup and its condition, and says once that it was a dry run', async () => {
  const policy = { name: 'leaks', scope: '/a.slice', condition: 'memory.growth > 10% over 1m', values: {} };
  const cause = { signal: 'policy', kind: 'policy', policy };
  write([
    line('08:10:00.000', 'policy', { dryRun: true, message: 'dry run: policy leaks: memory.growth > 10% over 1m' }),
    decision('08:10:00.001', 1, 'web-1', cause),
    outcome('08:10:00.025', 1, 'web-1'),
  ]);
  const { out } = await history();
  expect(out).toContain(': policy leaks on /a.slice: memory.growth > 10% over 1m; freed ');
  expect(out).toContain('  dry run: policy leaks: memory');
});
