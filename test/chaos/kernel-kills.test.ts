import { expect, test } from 'vitest';
import { BATCH, EARLIER, found, JOURNAL, KILLED, SEEN, verdict, WITH_BATCH } from './played-run.js';

/** The kill is between second 29.5 and 30. */
const AGAIN = `${JOURNAL} 24 decision 3 again as=web repeats; 25 killed 3;`;
const WITH_AGAIN = `${SEEN} 22 begins again; 24.5 ends again;`;
const WITHOUT_YIELD = `${EARLIER} 24 decision 3 batch; 25 ineffective 3;`;
const LONG_AGO = `${EARLIER} 12 decision 3 batch; 13 ineffective 3;`;
const WITH_EARLY_BATCH = `${SEEN} 10 begins batch; 12.5 ends batch;`;
const LEAK = `${JOURNAL} 23 met; 25 alert leak-elsewhere;`;
test.each<[rule: string, journal: string, seen: string, excused: string | undefined]>([
  ['nothing', JOURNAL, SEEN, undefined],
  ['the workload has hit its own limit', JOURNAL, SEEN.replace('39 begins last', '30 oom job own; 39 begins last'), 'its own limit'],

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
  ['an alert named the budget, and the budget was not used up', `${JOURNAL} 25 alert budget-exhausted`, SEEN, undefined],

  ['an eviction freed too little', WITHOUT_YIELD, WITH_BATCH, 'no-yield'],
  [
    'other programs used the memory that an eviction freed',
    WITHOUT_YIELD.replace('ineffective 3', 'ineffective 3 taken'),
    WITH_BATCH,
    undefined,
  ],
  [
    'other programs used the memory that an eviction for another resource freed',
    WITHOUT_YIELD.replace('3 batch;', '3 batch pid.available;'),
    WITH_BATCH,
    undefined,
  ],
  ['an alert named no-yield, and each eviction freed enough', `${JOURNAL} 25 alert no-yield`, SEEN, undefined],
  ['enough became available for a moment', LONG_AGO, `${WITH_EARLY_BATCH} 14 looks free=200; 24.9 looks free=200`, 'no-yield'],
  ['enough became available', LONG_AGO, `${WITH_EARLY_BATCH} 14 looks free=200; 25 looks free=200; 28 looks free=100`, undefined],
  ['an operator had ended the pause', `${WITHOUT_YIELD} 28 resume`, WITH_BATCH, undefined],
  ['a new run had no state', `${WITHOUT_YIELD} 28 start`, WITH_BATCH, undefined],
  ['a new run went on', `${WITHOUT_YIELD} 28 start resumed`, WITH_BATCH, 'no-yield'],
  ['an evictable workload had grown', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.5 looks free=100 job=50`, undefined],
  ['the workload grew too late', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.6 looks free=100 job=50`, 'no-yield'],
  ['the workload had grown too little', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.5 looks free=120 job=41`, 'no-yield'],
  ['other programs had grown more', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.5 looks free=90 job=50`, 'no-yield'],
  ['a protected workload had grown', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 db=10; 28.5 looks free=100 db=60`, 'no-yield'],
  ['there was no shortage', WITHOUT_YIELD, `${WITH_BATCH} 26 looks free=150 job=10; 28.4 looks free=200 job=90`, 'no-yield'],
  [
    'the workload grew before another eviction',
    `${WITHOUT_YIELD} 27 decision 4 job; 27.2 vanished 4`,
    `${WITH_BATCH} 26 looks free=150 job=10; 28 looks free=100 job=60; 28.5 looks free=100 job=60`,
    'no-yield',
  ],

  ['memory leaked in another workload', LEAK, SEEN, 'leak-elsewhere'],
  ['the episode of the workload was over', `${LEAK} 28 unmet`, SEEN, undefined],
  ['the episode of another resource was over', `${LEAK} 28 unmet - - pid.available`, SEEN, 'leak-elsewhere'],
  ['an operator had ended the pause for the leak', `${LEAK} 28 resume`, SEEN, undefined],
  ['a new run went on, and knew of the leak', `${LEAK} 28 start resumed`, SEEN, 'leak-elsewhere'],
  ['a new run knew of no leak', `${LEAK} 28 start`, SEEN, undefined],
  ['an evictable workload had grown beside the leak', LEAK, `${SEEN} 26 looks free=150 job=10; 28.5 looks free=100 job=50`, undefined],
  ['an evictable workload was new', LEAK, `${SEEN} 26 looks free=150; 28.5 looks free=100 job=50`, undefined],
])('a kill by the kernel is judged where %s', (_rule, journal, seen, excused) => {
  const { violations, ...kept } = verdict(journal, excused === 'its own limit' ? `${seen}; 30 ends job` : `${seen}; ${KILLED}`);
  expect(kept.excused).toEqual(excused === undefined ? {} : excused === 'its own limit' ? { 'its own limit': 1 } : { [excused]: 1 });
  expect(found({ ...kept, violations })).toEqual(excused === undefined ? ["the kernel's OOM killer killed a process of 4"] : []);
});
