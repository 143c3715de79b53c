import { expect, test } from 'vitest';
import { evictableCheck } from '../../../../src/features/doctor/checks/workloads.js';
import type { WorkloadFacts } from '../../../../src/features/doctor/machine-facts.js';

const web = { name: 'web', path: '/a/web', hindrance: undefined };
const db = { name: 'db', path: '/a/db', hindrance: 'critical' };
const none: WorkloadFacts = { sources: [], listed: [], filesEach: 5, notices: [] };
const nothing = { level: 'warn', code: 'EVICTD_WORKLOADS_NONE', message: 'no workload source is configured', hint: 'name one' } as const;
const source = {
  key: 'workloads[0]',
  text: '/a',
  workloads: 0,
  unreadable: 0,
  problems: [{ code: 'EVICTD_SOURCE_MISSING', message: '/a is not there', hint: 'make it' }],
};

test.each<[rule: string, facts: Partial<WorkloadFacts>, status: string, summary: string, fix: string | undefined]>([
  ['one can be', { listed: [web] }, 'ok', '1 of 1 workloads can be evicted', undefined],
  [
    'protected workloads, by reason',
    { listed: [db, web, { ...db, name: 'pg' }] },
    'ok',
    '1 of 3 workloads can be evicted; not evictable: 2 × critical',
    undefined,
  ],
  ['the reason of lint', { notices: [nothing] }, 'broken', 'NOTHING IS EVICTABLE: no workload source is configured', 'name one'],
  ['a source that is not there', { sources: [source] }, 'broken', 'NOTHING IS EVICTABLE: /a is not there', 'make it'],
  ['all are protected, and lint has not reported it', { listed: [db] }, 'broken', 'NOTHING IS EVICTABLE: 1 × critical', 'see evictd rank'],
])('%s', (_rule, facts, status, summary, fix) => {
  expect(evictableCheck.judge({ workloads: { ...none, ...facts } })[0]).toMatchObject({ id: 'workloads.evictable', status, summary, fix });
});
