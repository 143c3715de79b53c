import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { evict } from '../../../src/features/eviction/command.js';
import { controlSocketPath } from '../../../src/host/instance-lock.js';
import { ran } from '../../cli/support.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const victim = { path: '/node/web' };
const DECISION = { type: 'decision', decision: 7, victim, message: 'evicting web' };
const OUTCOME = { type: 'outcome', decision: 7, result: 'killed', victim, message: 'evicted web: freed 1MiB' };
const EARLIER = { ...OUTCOME, decision: 6, message: 'evicted web: freed 6MiB' };
const ACCEPTED = { code: 201, details: { name: '/node/web', uid: 'web#1' } };
const GONE = { code: 404 };
/** evictd was killed, and is started again. */
const AWAY: readonly object[] = [];

/** `evictd evict web --wait`; evictd has these answers to evictions and these records, one after the other, the last for ever. */
async function waited(answers: readonly object[], records: readonly (readonly object[])[], args: readonly string[] = ['web', '--wait']) {
  const directory = temporaryDirectory('/dev/shm');
  const runtimeDirectory = join(directory, 'run');
  mkdirSync(runtimeDirectory);
  const next = <T>(list: T[]): T | undefined => (list.length > 1 ? list.shift() : list[0]);
  const [left, seen] = [[...answers], [...records]];
  const server = createServer((request, response) => {
    const isPost = request.method === 'POST';
    const answer = isPost ? next(left) : next(seen);
    if (answer === AWAY) request.socket.destroy();
    else response.end(JSON.stringify(isPost ? answer : { records: answer }));
  }).listen(controlSocketPath(runtimeDirectory, 'machine'));
  onTestFinished(() => void server.close());
  const file = join(directory, 'config.yaml');
  writeFileSync(file, JSON.stringify({ apiVersion: 'evictd.dev/v1', kind: 'EvictdConfiguration', runtimeDirectory }), { mode: 0o600 });
  const { out, error } = await ran((io) => evict({ io } as never), [...args, '--config', file]);
  return { out: out.split('\n').slice(1, -1), text: out, error };
}

test.each<[rule: string, answers: readonly object[], records: readonly (readonly object[])[], said: string]>([
  ['of the eviction that it requested', [ACCEPTED], [[EARLIER], [DECISION, EARLIER], [OUTCOME, DECISION, EARLIER]], OUTCOME.message],
  [
    'of an eviction that had already begun',
    [ACCEPTED],
    [
      [DECISION, EARLIER],
      [DECISION, EARLIER],
      [OUTCOME, DECISION],
    ],
    OUTCOME.message,
  ],
  ['across a restart of evictd', [ACCEPTED, AWAY, ACCEPTED], [[], AWAY, [], AWAY, [OUTCOME]], OUTCOME.message],
  ['of a workload that ended by itself', [ACCEPTED, ACCEPTED, GONE], [[EARLIER]], '/node/web has ended'],
])('evictd evict --wait prints the outcome %s', async (_rule, answers, records, said) => {
  const { out, error } = await waited(answers, records);
  expect([out, error]).toEqual([[said], undefined]);
});

test('a request beyond the limit of simultaneous evictions has a hint that is not about a budget', async () => {
  const { error } = await waited([{ code: 429, message: 'evictd ends 32 workloads already' }], [[]]);
  expect(error).toMatchObject({ code: 'EVICTD_EVICT_BUDGET', hint: 'try again when evictions have ended' });
});

test('--output json prints one document, also for refused workloads', async () => {
  const refused = { code: 429, message: 'no', details: { causes: [{ reason: 'DisruptionBudget', message: 'the budget web' }] } };
  const args = ['web', 'db', '--wait', '--output', 'json'];
  const { text, error } = await waited([ACCEPTED, refused], [[EARLIER], [OUTCOME, DECISION, EARLIER]], args);
  expect(JSON.parse(text)).toEqual({
    evictions: [
      { workload: 'web', state: 'ended', path: '/node/web', message: OUTCOME.message },
      { workload: 'db', state: 'refused', code: 'EVICTD_EVICT_BUDGET', message: expect.stringContaining('db is not evicted') as string },
    ],
  });
  expect(error).toMatchObject({ code: 'EVICTD_EVICT_BUDGET' });
});
