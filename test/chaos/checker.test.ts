import { expect, test } from 'vitest';
import { check } from './checker.js';
import { parseJournal } from './journal-lines.js';
import { BATCH, EARLIER, found, JOURNAL, KILLED, PROMISED, SEEN, verdict, WITH_BATCH } from './played-run.js';
import { monotonicOf } from './seen.js';

test('a run that keeps all promises has no violation', () => {
  expect(verdict(JOURNAL, SEEN)).toEqual({ violations: [], evictions: 2, excused: {} });
});

const FIRST_DIES = JOURNAL.replace('21 killed 1', '31 killed 1');
const NO_DECISION = 'and no decision is before it';

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
    'a decision that is recorded twice',
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
])('the checker finds a violation: %s', (_rule, journal, seen, violations) => {
  expect(found(verdict(journal, seen))).toEqual(violations);
});

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
  [
    'a second eviction of what the driver knows no process of',
    `${EARLIER} 22 decision 3 bomb; 23 killed 3; 29 decision 4 bomb; 30 killed 4`,
    SEEN,
    {},
  ],
  ['an end where the kernel killed some unit', JOURNAL, `${SEEN} 29 dead; 29.7 oom unit; 29.7 ends job; 33 guards`, { dead: 1 }],
  ['a second eviction after one that failed', `${JOURNAL.replace('killed 1', 'failed 1')} 31 decision 3 web; 32 killed 3`, SEEN, {}],
  [
    'a standing order whose record is late',
    `${JOURNAL.replace('killed 1', 'killed 1 after=0.5')} 22 decision 3 job wake=19 ordered; 23 killed 3 after=0.1`,
    `${SEEN} 22.5 ends job`,
    {},
  ],
  [
    'a process that begins between the signal of a standing order and its record',
    `${JOURNAL} 31 decision 3 job wake=29 ordered; 32 killed 3; 35 decision 4 job; 36 killed 4`,
    `${SEEN} 29.2 ends job; 30 again job; 34 looks alive=104; 35.5 ends job`,
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
    'a kill at the limit of the node after one at the limit of the workload',
    `${BATCH} 31 kernel-oom job node`,
    `${WITH_BATCH} 28 oom job own; ${KILLED}`,
    { 'its own limit': 1, budget: 1 },
  ],
])('the checker finds no violation: %s', (_rule, journal, seen, excused) => {
  expect(verdict(journal, seen)).toMatchObject({ violations: [], excused });
});

test('times of a wall clock that jumps are converted to the monotonic clock', () => {
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

test('a truncated line belongs to the record "torn" after it, and any other invalid line is a violation', () => {
  const text = '{"type":"start"}\n{"type":"deci\n{"type":"torn"}\n{"type":\n{"type":"stop"}\n';
  const journal = parseJournal(text);
  expect(journal).toEqual({ records: [{ type: 'start' }, { type: 'torn' }, { type: 'stop' }], broken: ['{"type":'] });
  expect(check({ records: [], broken: journal.broken }, [], PROMISED).violations[0]).toContain('is no JSON');
});
