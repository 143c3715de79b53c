import { expect, test } from 'vitest';
import type { Drain } from '../../../src/core/drain/drain.js';
import { drainStatus, drainText, drainWaits } from '../../../src/core/drain/drain-status.js';

const one = (name: string, rest: object = {}) => ({ id: `id-${name}`, name, path: `/${name}`, ...rest });
const drain = (rest: Partial<Drain>): Drain => ({ beganNs: 0n, lookedNs: 0n, pending: [], total: 0, ...rest });

test.each<[rule: string, drain: Drain, said: readonly string[]]>([
  ['the node is only cordoned', drain({ over: 'cordoned' }), ['the node is cordoned']],
  [
    'under way, with what most workloads wait for first',
    drain({
      total: 9,
      unnamed: [['#1']],
      pending: [
        one('batch', { decision: 3 }),
        one('db', { waits: 'a pause' }),
        ...[1, 2, 3, 4].map((at) => one(`web-${String(at)}`, { waits: 'a budget' })),
      ],
    }),
    [
      'draining: 2 of 9 workloads have ended; being evicted: 1, waiting: 6',
      'web-1, web-2, web-3 and 1 more wait: a budget',
      'db waits: a pause',
    ],
  ],
  ['the drain is complete', drain({ over: 'drained', total: 2 }), ['the node is drained: 2 of 2 workloads have ended']],
  [
    'the drain has timed out',
    drain({ over: 'timeout', total: 2, pending: [one('web')] }),
    ['the time of the drain is over: 1 of 2 workloads have ended'],
  ],
])('%s', (_rule, of, said) => {
  const status = drainStatus(of);
  expect([drainText(status), ...drainWaits(status)]).toEqual(said);
});
