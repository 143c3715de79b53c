import { expect, test } from 'vitest';
import { check, type Verdict } from './checker.js';
import { parseJournal, type JournalRecord } from './journal-lines.js';
import type { Promised, Seen } from './seen.js';

const PROMISED: Promised = { seed: 7, budget: { max: 2, windowMs: 10_000 }, clockOffsetMs: 0, last: '3' };
const INODES: Readonly<Record<string, string>> = { web: '1', db: '2', last: '3', job: '4', batch: '5' };

/** A record each: `20 decision 1 web [wake=18] [ordered] [pid.available]`, `21 killed 1`, `25 alert no-yield`. */
function record(text: string): JournalRecord {
  const [second = '', type = '', number = '', victim = '', ...more] = text.split(' ');
  const at = { time: new Date(Number(second) * 1000).toISOString(), signal: more.find((word) => word.includes('.')) ?? 'memory.available' };
  if (type === 'alert') return { ...at, type, alert: number };
  if (type !== 'decision') return { ...at, type: 'outcome', decision: Number(number), result: type };
  const wake = more.find((word) => word.startsWith('wake='))?.slice(5) ?? second;
  return {
    ...at,
    type,
    decision: Number(number),
    wake: more.includes('ordered') ? 'standing_order' : 'tick',
    wakeAtNs: Number(wake) * 1e9,
    victim: { name: victim, id: `/node/${victim}#${INODES[victim] ?? ''}` },
  };
}

/** An event each: `10 begins web`, `20 ends web [SIGTERM] [sent]`, `30 oom web`, `25 guards`. */
function event(text: string): Seen[] {
  const [second = '', kind = '', name = '', ...more] = text.split(' ');
  const at = Number(second) * 1000;
  const workload = INODES[name] ?? '';
  const its = { at, workload, pid: 100 + Number(workload) };
  if (kind === 'again') return [{ ...its, kind: 'process' }];
  if (kind === 'begins')
    return [
      { at, kind: 'workload', workload, name, protected: name === 'db' },
      { ...its, kind: 'process' },
    ];
  if (kind === 'ends')
    return [{ ...its, kind: 'ended', signal: more.find((word) => word.startsWith('SIG')) ?? 'SIGKILL', sent: more.includes('sent') }];
  if (kind === 'oom') return [{ at, kind: 'kernel-kills', workload, count: 1, since: at - 500 }];
  return [{ at, kind: 'evictd', state: kind as 'guards' }];
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
    ['decision 4 is number 3 for memory within 9.9 s'],
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
  ['a kill by the kernel while evictd was dead', JOURNAL, `${SEEN} 29 dead; 33 guards; ${KILLED}`, { dead: 1 }],
  ['a kill by the kernel while evictd was stopped for a moment', JOURNAL, `${SEEN} 29.6 stopped; 29.8 guards; ${KILLED}`, { stopped: 1 }],
  ['a kill by the kernel before the first outcome after that', JOURNAL, `${SEEN} 25 dead; 28 guards; ${KILLED}`, { 'just back': 1 }],
  ['a kill by the kernel with the budget used up', BATCH, `${WITH_BATCH} ${KILLED}`, { budget: 1 }],
  ['a kill by the kernel after an eviction that freed nothing', `${JOURNAL} 25 alert no-yield`, `${SEEN} ${KILLED}`, { 'no-yield': 1 }],
  ['a kill by the kernel while a leak is elsewhere', `${JOURNAL} 25 alert leak-elsewhere`, `${SEEN} ${KILLED}`, { 'leak-elsewhere': 1 }],
  ['a kill by the kernel where all are protected', JOURNAL, `${SEEN} 25 ends job sent; 30 oom db; 30 ends db`, { 'nothing evictable': 1 }],
])('no violation: %s', (_rule, journal, seen, excused) => {
  expect(verdict(journal, seen)).toMatchObject({ violations: [], excused });
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
