import { expect, test } from 'vitest';
import { describeRanked, rankMemoryPressure } from '../../src/core/rank.js';
import type { Workload } from '../../src/core/workload.js';
import { candidates, Mi, workload } from './support.js';

type Row = [name: string, usage: bigint, overrides?: Partial<Workload>];

/** Rows stand in the expected order; the test hands them over in every rotation. */
test.each<[rule: string, ...rows: Row[]]>([
  [
    'exceeding the request comes before any priority',
    ['over', 200n * Mi, { priority: 100, requests: { memory: 100n * Mi } }],
    ['within', 900n * Mi, { priority: -100, requests: { memory: Mi * 1000n } }],
  ],
  [
    'using exactly the request does not exceed it',
    ['over', 1n, { priority: 5 }],
    ['equal', 100n * Mi, { requests: { memory: 100n * Mi } }],
  ],
  ['lower priority goes first', ['low', 10n * Mi, { priority: -1 }], ['high', 500n * Mi, { priority: 0 }]],
  [
    'more above the request goes first',
    ['b', 150n * Mi, { requests: { memory: 10n * Mi } }],
    ['a', 300n * Mi, { requests: { memory: 200n * Mi } }],
  ],
  [
    'within the request, closest to it goes first',
    ['b', 95n * Mi, { requests: { memory: 100n * Mi } }],
    ['a', 50n * Mi, { requests: { memory: 100n * Mi } }],
  ],
  ['the youngest of equals goes first', ['young', Mi, { startOrder: 9n }], ['old', Mi, { startOrder: 8n }]],
  ['the name decides in the end', ['a', Mi], ['b', Mi]],
  ['no usage and no request does not exceed anything', ['user', 1n], ['idle', 0n]],
])('%s', (_rule, ...rows) => {
  const usages = rows.map(([name, usage, overrides]) => [workload(name, overrides), usage] as [Workload, bigint]);
  for (let rotation = 0; rotation < usages.length; rotation += 1) {
    const rotated = [...usages.slice(rotation), ...usages.slice(0, rotation)];
    expect(rankMemoryPressure(candidates(...rotated)).map((ranked) => ranked.workload.name)).toEqual(rows.map(([name]) => name));
  }
});

test('a protected workload keeps its place and its reason', () => {
  const db = workload('db', { protection: { kind: 'critical' } });
  const [first, second] = rankMemoryPressure(candidates([workload('web'), 10n * Mi], [db, 500n * Mi]));
  expect(first).toMatchObject({ place: 1, protection: { kind: 'critical' }, aboveRequestBytes: 500n * Mi });
  expect(second).toMatchObject({ place: 2, protection: undefined });
});

test.each<[usage: bigint, overrides: Partial<Workload>, words: string]>([
  [200n * Mi, {}, 'uses 200MiB, has no request, priority 0'],
  [200n * Mi, { requests: { memory: 64n * Mi }, priority: -10 }, 'uses 200MiB, 136MiB above its request of 64MiB, priority -10'],
  [50n * Mi, { requests: { memory: 64n * Mi } }, 'uses 50MiB, within its request of 64MiB, priority 0'],
  [
    50n * Mi,
    { protection: { kind: 'contains', name: 'db' } },
    'uses 50MiB, has no request, priority 0; never evicted: contains db, which is protected',
  ],
])('%#: reasons in words', (usage, overrides, words) => {
  const [ranked] = rankMemoryPressure(candidates([workload('w', overrides), usage]));
  expect(ranked && describeRanked(ranked)).toBe(words);
});
