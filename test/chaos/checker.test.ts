import { expect, test } from 'vitest';
import { check, type Verdict } from './checker.js';
import { parseJournal, type JournalRecord } from './journal-lines.js';
import { monotonicOf, type Promised, type Seen } from './seen.js';

const PROMISED: Promised = { seed: 7, budget: { max: 2, windowMs: 10_000 }, last: '3', looksWithinMs: 1000 };
const INODES: Readonly<Record<string, string>> = { web: '1', db: '2', last: '3', job: '4', batch: '5', again: '6' };
const MIB = 1 << 20;

/** The values of `key=value` in the words of a line. */
function settings(line: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(line.flatMap((word) => (word.includes('=') ? [word.split('=')] : []))) as Record<string, string>;
}

/**
 * A record each: `20 decision 1 web [wake=18] [ordered] [pid.available] [as=web] [repeats]`, `25 alert no-yield`,
 * `21 killed 1 [taken] [after=0.2]`, `23 met`, `33 unmet`, `28 resume`, `28 start [resumed]`, `31 kernel-oom job node`.
 * A decision needs 200 MiB.
 */
function record(text: string): JournalRecord {
  const [second = '', type = '', number = '', victim = '', ...more] = text.split(' ');
  const at = { time: new Date(Number(second) * 1000).toISOString() };
  const { wake = second, after, as = victim } = settings([victim, ...more]);
  const spans = after === undefined ? {} : { spansMs: { crossingToSignal: Number(after) * 1000 } };
  const limit = 200 * MIB;
  const read = { ...at, signal: more.find((word) => word.includes('.')) ?? 'memory.available', thresholdValue: limit };
  switch (type) {
    case 'alert':
      return { ...read, type, alert: number };
    case 'met':
    case 'unmet':
      return { ...read, type: 'threshold', kind: 'hard', threshold: '200Mi', met: type === 'met' };
    case 'resume':
      return { ...at, type };
    case 'start':
      return { ...at, type, ...(number === 'resumed' && { resumed: {} }) };
    case 'kernel-oom':
      return { ...at, type, workload: { name: number }, limit: victim };
    case 'decision':
      return {
        ...read,
        type,
        limit,
        decision: Number(number),
        wake: more.includes('ordered') ? 'standing_order' : 'tick',
        wakeAtNs: Number(wake) * 1e9,
        victim: { name: as, id: `/node/${as}#${INODES[victim] ?? ''}` },
        ...(more.includes('repeats') && { repeats: true }),
      };
    default:
      return {
        ...read,
        type: 'outcome',
        decision: Number(number),
        result: type,
        ...(victim === 'taken' && { notFreed: 'taken' }),
        ...spans,
      };
  }
}

/**
 * An event each: `10 begins web`, `20 ends web [SIGTERM] [sent]`, `12 again web`, `30 oom web [own]`, `25 guards`,
 * `26 looks free=100 job=40 alive=104` (MiB).
 */
function event(text: string): Seen[] {
  const [second = '', kind = '', name = '', ...more] = text.split(' ');
  const at = Number(second) * 1000;
  const now = { at, wall: at };
  const workload = INODES[name] ?? '';
  const its = { ...now, workload, pid: 100 + Number(workload) };
  switch (kind) {
    case 'again':
      return [{ ...its, kind: 'process' }];
    case 'begins':
      return [
        { ...now, kind: 'workload', workload, name, protected: name === 'db' },
        { ...its, kind: 'process' },
      ];
    case 'renamed':
      return [{ ...now, kind, workload, name: more[0] ?? '' }];
    case 'ends':
      return [{ ...its, kind: 'ended', signal: more.find((word) => word.startsWith('SIG')) ?? 'SIGKILL', sent: more.includes('sent') }];
    case 'oom':
      return [{ ...now, kind: 'kernel-kills', workload, count: 1, since: at - 500, limit: more.includes('own') ? 'own' : 'node' }];
    case 'looks': {
      const { free = '0', alive = '', ...held } = settings([name, ...more]);
      const anonBytes = Object.fromEntries(Object.entries(held).map(([of, mib]) => [INODES[of] ?? '', Number(mib) * MIB]));
      return [{ ...now, kind: 'looked', freeBytes: Number(free) * MIB, anonBytes, alive: alive.split(',').map(Number) }];
    }
    default:
      return [{ ...now, kind: 'evictd', state: kind as 'guards' }];
  }
}

const words = (text: string): string[] =>
  text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean);
/** `web` is evicted in second 20, `last` in second 40; the protected `db` and `job` run from second 10. */
const JOURNAL = '20 decision 1 web; 21 killed 1; 40 decision 2 last; 41 killed 2;';
const SEEN = '5 guards; 10 begins web; 10 begins db; 10 begins job; 20.5 ends web; 39 begins last; 40.5 ends last;';
const verdict = (journal: string, seen: string): Verdict =>
  check(
    {
      records: words(journal)
        .map(record)
        .sort((a, b) => Date.parse(a.time) - Date.parse(b.time)),
      broken: [],
    },
    words(seen)
      .flatMap(event)
      .sort((a, b) => a.at - b.at),
    PROMISED,
  );
const found = ({ violations }: Verdict): string[] => violations.map((text) => text.split('\n')[0]?.replace(/^seed 7, \S+: /, '') ?? '');

test('a run that keeps all promises has no violation', () => {
  expect(verdict(JOURNAL, SEEN)).toEqual({ violations: [], evictions: 2, excused: {} });
});

const FIRST_DIES = JOURNAL.replace('21 killed 1', '31 killed 1');
const NO_DECISION = 'and no decision is before it';
const BATCH = `${JOURNAL} 24 decision 3 batch; 25 killed 3;`;
const WITH_BATCH = `${SEEN} 10 begins batch; 24.5 ends batch;`;

test.each<[violation: string, journal: string, seen: string, violations: string[]]>([
  [
    'a decision for a protected workload',
    `${JOURNAL} 25 decision 3 db; 26 vanished 3`,
    SEEN,
    ['decision 3 has the protected workload db as its victim'],
  ],
  [
    'the end of a protected workload by a signal',
    JOURNAL,
    `${SEEN} 25 ends db`,
    ['process 102 of the protected workload 2 ended by SIGKILL', `process 102 of 2 ended by SIGKILL, ${NO_DECISION}`],
  ],
  [
    'one eviction more than the budget in its window',
    `${BATCH} 29.9 decision 4 job; 30 killed 4`,
    `${WITH_BATCH} 29.95 ends job`,
    ['decision 4 has victim 3 for memory within 9.9 s'],
  ],
  [
    'a second victim while the first one dies',
    `${FIRST_DIES} 30 decision 3 job; 31 killed 3`,
    `${SEEN} 30.5 ends job`,
    ['decision 3 for memory while the victim of 1 dies'],
  ],
  [
    'a first victim without an outcome',
    JOURNAL.replace('21 killed 1;', ''),
    SEEN,
    ['decision 2 for memory while the victim of 1 dies', 'decision 1 has 0 outcomes'],
  ],
  ['a signal without a decision', JOURNAL, `${SEEN} 30 ends job SIGTERM`, [`process 104 of 4 ended by SIGTERM, ${NO_DECISION}`]],
  [
    'a signal before the decision',
    `${JOURNAL} 31 decision 3 job; 32 killed 3`,
    `${SEEN} 30 ends job`,
    [`process 104 of 4 ended by SIGKILL, ${NO_DECISION}`],
  ],
  [
    'a second end where the kernel killed once',
    JOURNAL,
    `${SEEN} 29 dead; 29.7 oom job; 29.7 ends job; 29.8 again job; 33 guards; 34 ends job`,
    [`process 104 of 4 ended by SIGKILL, ${NO_DECISION}`],
  ],
  [
    'a signal after the eviction of an earlier process',
    JOURNAL,
    `${SEEN} 25 again web; 26 ends web`,
    [`process 101 of 1 ended by SIGKILL, ${NO_DECISION}`],
  ],
  [
    'a signal where the outcome says none',
    `${JOURNAL} 30 decision 3 job; 31 vanished 3`,
    `${SEEN} 30.5 ends job`,
    ['process 104 of 4 ended by SIGKILL, and the outcome says that no signal was sent'],
  ],
  [
    'a decision that is there twice',
    `${JOURNAL} 20 decision 1 web`,
    SEEN,
    ['decision 1 for memory while the victim of 1 dies', 'decision 1 is there twice'],
  ],
  ['a second outcome', `${JOURNAL} 22 killed 1`, SEEN, ['decision 1 has 2 outcomes']],
  ['an outcome before its decision', JOURNAL.replace('21 killed 1', '19 killed 1'), SEEN, ['the outcome of decision 1 is before it']],
  ['an outcome without a decision', `${JOURNAL} 22 killed 9`, SEEN, ['an outcome without a decision: 9']],
  [
    'a process that outlives an outcome killed',
    JOURNAL,
    SEEN.replace('20.5 ends web;', ''),
    ['decision 1 has killed web, and its process 101 lives on'],
  ],
  [
    'a process that lives on after an outcome killed, for a while',
    JOURNAL,
    SEEN.replace('20.5 ends web;', '21.5 looks alive=101,104; 22 ends web;'),
    ['decision 1 has killed web, and its process 101 lives on'],
  ],
  [
    'a victim for the second time, without a process since',
    `${JOURNAL} 31 decision 3 web; 32 killed 3`,
    SEEN,
    ['decision 3 has the same victim as 1, web, which has no process since'],
  ],
  [
    'a signal before that of an earlier decision',
    JOURNAL.replace('2 last;', '2 last wake=20;').replace('killed 2', 'killed 2 after=0.4').replace('killed 1', 'killed 1 after=0.5'),
    SEEN,
    ['the signal of decision 2 is before that of the one before it', 'the signal of decision 2 is before its record'],
  ],
  [
    'a signal before the record of its decision',
    JOURNAL.replace('1 web;', '1 web wake=19.7;').replace('killed 1', 'killed 1 after=0.2'),
    SEEN,
    ['the signal of decision 1 is before its record'],
  ],
  [
    'a kill at a limit of the workload that evictd counts for the node',
    `${JOURNAL} 31 kernel-oom job node`,
    `${SEEN} 30 oom job own; 30 ends job`,
    ['a kill at the own limit of job is recorded as one of the node'],
  ],
  [
    'the same, of a workload with another name since',
    `${JOURNAL} 31 kernel-oom jobr node`,
    `${SEEN} 29 renamed job jobr; 30 oom job own; 30 ends job`,
    ['a kill at the own limit of jobr is recorded as one of the node'],
  ],
  ['an evictd that ends by itself', JOURNAL, `${SEEN} 30 lost`, ['evictd ended by itself']],
  [
    'a last leak that is not evicted',
    JOURNAL.replace(/40.*/, ''),
    SEEN.replace('40.5 ends last;', ''),
    ['evictd has not evicted the last leak'],
  ],
  [
    'a kill by the kernel beside an evictable workload',
    JOURNAL,
    `${SEEN} 30 oom job; 30 ends job`,
    ["the kernel's OOM killer killed a process of 4"],
  ],
])('a violation: %s', (_rule, journal, seen, violations) => {
  expect(found(verdict(journal, seen))).toEqual(violations);
});

const KILLED = '30 oom job; 30 ends job';
test.each<[rule: string, journal: string, seen: string, excused: Record<string, number>]>([
  ['an end that the driver made', JOURNAL, `${SEEN} 30 ends job sent`, {}],
  [
    'a victim that was started again and evicted again',
    `${BATCH} 29.9 decision 4 again as=web repeats; 30 killed 4`,
    `${WITH_BATCH} 22 begins again; 29.95 ends again`,
    {},
  ],
  ['a window that is over', `${BATCH} 30 decision 4 job; 31 killed 4`, `${WITH_BATCH} 30.5 ends job`, {}],
  [
    'a window whose first record is late: evictd was stopped',
    `${BATCH.replace('20 decision 1 web', '20.4 decision 1 web wake=20')} 30 decision 4 job; 31 killed 4`,
    `${WITH_BATCH} 30.5 ends job`,
    {},
  ],
  [
    'an eviction that sent no signal',
    `${BATCH.replace('killed 3', 'vanished 3')} 29 decision 4 job; 29.5 killed 4`,
    `${SEEN} 29.1 ends job`,
    {},
  ],
  ['a signal of a standing order', `${JOURNAL} 31 decision 3 job wake=29 ordered; 32 killed 3`, `${SEEN} 30 ends job`, {}],
  ['a victim for another resource', `${FIRST_DIES} 30 decision 3 job pid.available; 31 killed 3`, `${SEEN} 30.5 ends job`, {}],
  [
    'a second eviction of a workload that started again',
    `${JOURNAL} 31 decision 3 web; 32 killed 3`,
    `${SEEN} 25 again web; 31.5 ends web`,
    {},
  ],
  ['a second eviction after one that failed', `${JOURNAL.replace('killed 1', 'failed 1')} 31 decision 3 web; 32 killed 3`, SEEN, {}],
  [
    'a standing order whose record is late',
    `${JOURNAL.replace('killed 1', 'killed 1 after=0.5')} 22 decision 3 job wake=19 ordered; 23 killed 3 after=0.1`,
    `${SEEN} 22.5 ends job`,
    {},
  ],
  ['a kill by the kernel where all are protected', JOURNAL, `${SEEN} 25 ends job sent; 30 oom db; 30 ends db`, { 'nothing evictable': 1 }],
  [
    'an earlier event that was seen later',
    JOURNAL.replace('2 last;', '2 last wake=19;').replace('killed 2', 'killed 2 after=21'),
    SEEN,
    {},
  ],
  [
    'a kill at the limit of the node after one at its own',
    `${BATCH} 31 kernel-oom job node`,
    `${WITH_BATCH} 28 oom job own; ${KILLED}`,
    { 'its own limit': 1, budget: 1 },
  ],
])('no violation: %s', (_rule, journal, seen, excused) => {
  expect(verdict(journal, seen)).toMatchObject({ violations: [], excused });
});

/** The kill is between second 29.5 and 30. */
const EARLIER = JOURNAL.replace('20 decision 1 web; 21 killed 1', '18 decision 1 web; 19 killed 1');
const AGAIN = `${JOURNAL} 24 decision 3 again as=web repeats; 25 killed 3;`;
const WITH_AGAIN = `${SEEN} 22 begins again; 24.5 ends again;`;
const WITHOUT_YIELD = `${EARLIER} 24 decision 3 batch; 25 ineffective 3;`;
const LEAK = `${JOURNAL} 23 met; 25 alert leak-elsewhere;`;
test.each<[rule: string, journal: string, seen: string, excused: string | undefined]>([
  ['nothing', JOURNAL, SEEN, undefined],
  ['a limit of its own', JOURNAL, SEEN.replace('39 begins last', '30 oom job own; 39 begins last'), 'its own limit'],

  ['evictd was dead', JOURNAL, `${SEEN} 29 dead; 33 guards`, 'dead'],
  ['evictd was stopped after it', JOURNAL, `${SEEN} 30.1 stopped; 31 guards`, undefined],
  ['evictd was stopped for a moment', JOURNAL, `${SEEN} 29.6 stopped; 29.8 guards`, 'stopped'],
  ['evictd had not looked yet', JOURNAL, `${SEEN} 25 dead; 29 guards`, 'just back'],
  [
    'evictd had evicted since',
    `${EARLIER} 29.1 decision 3 batch; 29.3 killed 3`,
    `${WITH_BATCH.replace('24.5', '29.2')} 25 dead; 29 guards`,
    undefined,
  ],
  ['evictd had looked', JOURNAL, `${SEEN} 25 dead; 28.4 guards`, undefined],

  ['the budget was used up', BATCH, WITH_BATCH, 'budget'],
  ['the window was just over', BATCH.replace('20 decision 1 web;', '19.2 decision 1 web;'), WITH_BATCH, 'just back'],
  ['the window was over', BATCH.replace('20 decision 1 web;', '18.4 decision 1 web;'), WITH_BATCH, undefined],
  ['two evictions were of one workload, which counts again', AGAIN.replace(' repeats', ''), WITH_AGAIN, 'budget'],
  ['two evictions were of one workload, which counts once', AGAIN, WITH_AGAIN, undefined],
  ['one eviction had sent no signal', BATCH.replace('killed 3', 'vanished 3'), `${SEEN} 10 begins batch`, undefined],
  ['one eviction was for another resource', BATCH.replace('3 batch;', '3 batch pid.available;'), WITH_BATCH, undefined],
  ['an operator had resumed evictd', `${BATCH} 28 resume`, WITH_BATCH, undefined],
  ['an alert said budget, and it was not used up', `${JOURNAL} 25 alert budget-exhausted`, SEEN, undefined],

  ['an eviction freed too little', WITHOUT_YIELD, WITH_BATCH, 'no-yield'],
  ['others took what it freed', WITHOUT_YIELD.replace('ineffective 3', 'ineffective 3 taken'), WITH_BATCH, undefined],
  ['the same for another resource', WITHOUT_YIELD.replace('3 batch;', '3 batch pid.available;'), WITH_BATCH, undefined],
  ['an alert said no-yield, and each eviction freed enough', `${JOURNAL} 25 alert no-yield`, SEEN, undefined],
  [
    'enough became available for a moment',
    WITHOUT_YIELD,
    `${WITH_BATCH} 26 looks free=200; 26.9 looks free=200; 27 looks free=199`,
    'no-yield',
  ],
  ['enough became available', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=200; 27 looks free=200; 28 looks free=100`, undefined],
  ['an operator had ended the pause', `${WITHOUT_YIELD} 28 resume`, WITH_BATCH, undefined],
  ['a new run had no state', `${WITHOUT_YIELD} 28 start`, WITH_BATCH, undefined],
  ['a new run went on', `${WITHOUT_YIELD} 28 start resumed`, WITH_BATCH, 'no-yield'],
  ['an evictable workload had grown', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.5 looks free=100 job=50`, undefined],
  ['it grew too late', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.6 looks free=100 job=50`, 'no-yield'],
  ['it had grown too little', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.5 looks free=120 job=41`, 'no-yield'],
  ['others had grown more', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.5 looks free=90 job=50`, 'no-yield'],
  ['a protected workload had grown', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 db=10; 28.5 looks free=100 db=60`, 'no-yield'],
  ['there was no shortage', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.4 looks free=200 job=90`, 'no-yield'],
  [
    'it grew before another eviction',
    `${WITHOUT_YIELD} 27 decision 4 job; 27.2 vanished 4`,
    `${WITH_BATCH} 26 looks free=150 job=10; 28 looks free=100 job=60; 28.5 looks free=100 job=60`,
    'no-yield',
  ],

  ['a leak was elsewhere', LEAK, SEEN, 'leak-elsewhere'],
  ['its episode was over', `${LEAK} 28 unmet`, SEEN, undefined],
  ['the episode of another resource was over', `${LEAK} 28 unmet - - pid.available`, SEEN, 'leak-elsewhere'],
  ['an operator had ended the pause for the leak', `${LEAK} 28 resume`, SEEN, undefined],
  ['a new run went on, and knew of the leak', `${LEAK} 28 start resumed`, SEEN, 'leak-elsewhere'],
  ['a new run knew of no leak', `${LEAK} 28 start`, SEEN, undefined],
  ['an evictable workload had grown beside the leak', LEAK, `${SEEN} 26 looks free=150 job=10; 28.5 looks free=100 job=50`, undefined],
  ['an evictable workload was new', LEAK, `${SEEN} 26 looks free=150; 28.5 looks free=100 job=50`, undefined],
])('a kill by the kernel, where %s', (_rule, journal, seen, excused) => {
  const { violations, ...kept } = verdict(journal, excused === 'its own limit' ? `${seen}; 30 ends job` : `${seen}; ${KILLED}`);
  expect(kept.excused).toEqual(excused === undefined ? {} : excused === 'its own limit' ? { 'its own limit': 1 } : { [excused]: 1 });
  expect(found({ ...kept, violations })).toEqual(excused === undefined ? ["the kernel's OOM killer killed a process of 4"] : []);
});

test('times of a wall clock that jumps are those of the monotonic clock', () => {
  const hours = 3_600_000;
  const moments = [
    { at: 1000, wall: 5 * hours },
    { at: 9000, wall: 5 * hours + 8000 },
    { at: 9010, wall: 7 * hours },
    { at: 12_000, wall: 7 * hours + 2990 },
    { at: 12_010, wall: 1 * hours },
  ];
  const times = [5 * hours + 8005, 7 * hours + 20, 7 * hours + 2995, 1 * hours + 400];
  expect(times.map((wall) => monotonicOf(wall, moments))).toEqual([9005, 9030, 12_005, 12_410]);
});

test('a violation has the seed, the time, and the lines of journal and driver around it', () => {
  const [text = ''] = verdict(JOURNAL, `${SEEN} 21.5 lost`).violations;
  expect(text.split('\n')).toEqual([
    'seed 7, 00:00:21.500: evictd ended by itself',
    ...Array.from({ length: 5 }, () => expect.any(String) as string),
    '    00:00:20.000 journal decision 1 ',
    '    00:00:20.500 driver  {"workload":"1","pid":101,"kind":"ended","signal":"SIGKILL","sent":false}',
    '    00:00:21.000 journal outcome 1 ',
    '    00:00:21.500 driver  {"kind":"evictd","state":"lost"}',
    ...Array.from({ length: 5 }, () => expect.any(String) as string),
  ]);
});

test('a line that was cut off belongs to the record "torn" after it; any other broken line is a violation', () => {
  const text = '{"type":"start"}\n{"type":"deci\n{"type":"torn"}\n{"type":\n{"type":"stop"}\n';
  const journal = parseJournal(text);
  expect(journal).toEqual({ records: [{ type: 'start' }, { type: 'torn' }, { type: 'stop' }], broken: ['{"type":'] });
  expect(check({ records: [], broken: journal.broken }, [], PROMISED).violations[0]).toContain('is no JSON');
});
