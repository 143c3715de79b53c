import { describe, expect, test } from 'vitest';
import { askEvictd } from '../../src/node/control-client.js';
import { SLOWNESS } from '../support/slowness.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { evictd as command, Evictd, victimOf, type JournalLine } from './evictd.js';
import { dyingAt, type Moment } from './mortal.js';
import { guarding, ON, testNode, workload } from './node.js';
import { terms } from './restarting.js';
import { aWhile } from './wait.js';

// SIGKILL of evictd at each point of a disruption, and a new evictd, which goes on: every decision has one outcome, no
// workload is forgotten, and none is ended twice.

const TAINT = 'maintenance=yes:NoExecute';
const tolerating = (name: string, tolerationSeconds?: number) => {
  const forAWhile = tolerationSeconds !== undefined && { tolerationSeconds };
  return { match: { name }, tolerations: [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', ...forAWhile }] };
};
const of = (evictd: Evictd, type: string): readonly JournalLine[] => evictd.journal().filter((line) => line.type === type);
const run = (evictd: Evictd, ...args: readonly string[]) => command(...args, '--config', evictd.configFile);

/** `batch` ignores SIGTERM and tolerates the taint for two seconds; `web` tolerates it; `db` is critical. */
async function scene() {
  const node = testNode();
  const directory = temporaryDirectory('/dev/shm');
  const batch = await workload(node.child('batch'), { onTerm: 'say' });
  const [web, db] = [await workload(node.child('web')), await workload(node.child('db'))];
  const rules = [
    { match: { name: 'batch' }, priority: -10, requests: { memory: '512Mi' }, terminationGracePeriodSeconds: 2 * SLOWNESS },
    tolerating('batch', 2),
    tolerating('web'),
    { match: { name: 'web' }, critical: true },
    { match: { name: 'db' }, critical: true },
  ];
  const config = { ...guarding(node, rules), monitoringInterval: '200ms' };
  const start = (through: readonly string[] = []) => new Evictd({ config, directory, through }).guarding();
  return { node, directory, batch, web, db, start };
}

/** `terms`: how often `batch` gets SIGTERM. */
const MOMENTS: readonly [when: Moment['when'], at: Moment['at'], terms: number][] = [
  ['after', 'state:decided', 1],
  ['before', 'TERM', 1],
  ['after', 'TERM', 2], // that it was sent is not saved
  ['after', 'state:terminating', 1],
  ['before', 'KILL', 1],
  ['after', 'KILL', 1],
  ['after', 'state:dying', 1],
  ['before', 'ring:outcome', 1],
  ['before', 'journal:outcome', 1],
];
/** A drain is begun and decided before its request is answered. */
const UNANSWERED: readonly Moment['at'][] = ['ring:decision', 'state:decided', 'TERM', 'state:terminating'];

describe(`SIGKILL of evictd during a disruption, and a restart (${ON})`, () => {
  const outcomesOf = async (evictd: Evictd, count: number): Promise<unknown[]> => {
    await evictd.until('every decision has its outcome', () => of(evictd, 'outcome').length === count);
    await aWhile();
    expect(await evictd.stop()).toBe(0);
    expect(of(evictd, 'decision').map(victimOf)).toEqual(Array.from({ length: count }, () => 'batch'));
    return of(evictd, 'outcome').map(({ decision, result }) => [decision, result]);
  };

  test.each(MOMENTS)('a taint whose toleration is over, and a kill %s %s', async (when, at, sigterms) => {
    const { directory, batch, web, db, start } = await scene();
    const mortal = await start(dyingAt(directory, { when, at }));
    expect((await run(mortal, 'taint', TAINT)).code).toBe(0);
    expect(await mortal.exited()).toBe('SIGKILL');
    const evictd = await start();
    expect(await batch.ended).toBe('SIGKILL');
    expect((await run(evictd, 'taint')).stdout).toBe(`${TAINT}\n`);
    expect(await outcomesOf(evictd, 1)).toEqual([[1, 'killed']]);
    expect([web.alive, db.alive, terms(batch)]).toEqual([true, true, sigterms]);
  });

  test('a taint, after a decision that was not saved: the decision is abandoned, and the next one is made', async () => {
    const { directory, batch, start } = await scene();
    const mortal = await start(dyingAt(directory, { when: 'after', at: 'ring:decision' }));
    await run(mortal, 'taint', TAINT);
    expect(await mortal.exited()).toBe('SIGKILL');
    const evictd = await start();
    expect(await batch.ended).toBe('SIGKILL');
    expect(await outcomesOf(evictd, 2)).toEqual([
      [1, 'abandoned'],
      [2, 'killed'],
    ]);
    expect(terms(batch)).toBe(1);
  });

  test.each(MOMENTS)('a drain, and a kill %s %s', async (when, at, sigterms) => {
    const { directory, batch, web, db, start } = await scene();
    const mortal = await start(dyingAt(directory, { when, at }));
    const draining = run(mortal, 'drain');
    expect(await mortal.exited()).toBe('SIGKILL');
    const evictd = await start();
    expect(await batch.ended).toBe('SIGKILL');
    const { code, stdout, stderr } = await draining;
    if (UNANSWERED.includes(at)) expect([code, stderr]).toEqual([75, expect.stringContaining('EVICTD_CONTROL_UNANSWERED')]);
    else expect([code, stdout]).toEqual([0, expect.stringMatching(/batch has ended\nthe node is drained: 1 ended\n$/)]);
    await evictd.until('the drain is over', () => of(evictd, 'drain').length === 2);
    expect(await outcomesOf(evictd, 1)).toEqual([[1, 'killed']]);
    expect([web.alive, db.alive, terms(batch)]).toEqual([true, true, sigterms]);
    expect(of(evictd, 'drain')).toMatchObject([{ event: 'begin' }, { event: 'end', because: 'drained' }]);
  });

  test('a drain, after a decision that was not saved: the drain was not saved either, and the command has no answer', async () => {
    const { directory, batch, start } = await scene();
    const mortal = await start(dyingAt(directory, { when: 'after', at: 'ring:decision' }));
    const { code, stderr } = await run(mortal, 'drain');
    expect([code, stderr]).toEqual([75, expect.stringContaining('EVICTD_CONTROL_UNANSWERED')]);
    const evictd = await start();
    expect((await run(evictd, 'admit', '--name', 'new')).code).toBe(0);
    expect(await outcomesOf(evictd, 1)).toEqual([[1, 'abandoned']]);
    expect([batch.alive, terms(batch)]).toEqual([true, 0]);
  });

  const EVICT = ['evict', 'batch', '--wait'];
  const ADMIT = ['admit', '--preempt', '--name', 'new', '--requests', 'memory=200Mi', '--fail-closed'];
  test.each<[args: readonly string[], ...moment: (typeof MOMENTS)[number], codes: readonly number[], again: number]>([
    [EVICT, 'after', 'state:decided', 1, [0, 75], 66],
    [EVICT, 'after', 'TERM', 2, [0, 75], 66],
    [EVICT, 'after', 'KILL', 1, [0], 66],
    [ADMIT, 'after', 'state:decided', 1, [1], 0],
    [ADMIT, 'after', 'TERM', 2, [1], 0],
    [ADMIT, 'after', 'KILL', 1, [1], 0],
  ])('%j, and a kill %s %s', async (args, when, at, sigterms, codes, again) => {
    const { directory, batch, web, db, start } = await scene();
    const mortal = await start(dyingAt(directory, { when, at }));
    const asked = run(mortal, ...args);
    expect(await mortal.exited()).toBe('SIGKILL');
    if (args === ADMIT) await asked; // evict --wait waits for the next evictd, if its request was answered
    const evictd = await start();
    expect(codes).toContain((await asked).code);
    expect(await batch.ended).toBe('SIGKILL');
    expect((await run(evictd, ...args)).code).toBe(again);
    expect(await outcomesOf(evictd, 1)).toEqual([[1, 'killed']]);
    expect([web.alive, db.alive, terms(batch)]).toEqual([true, true, sigterms]);
  });

  test('a taint that is still tolerated: the toleration time continues, and does not begin again', async () => {
    const { batch, web, db, start } = await scene();
    const first = await start();
    await run(first, 'taint', TAINT);
    await first.recorded('taint');
    expect(await first.stop('SIGKILL')).toBe('SIGKILL');
    const evictd = await start();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    await aWhile();
    expect([web.alive, db.alive, terms(batch)]).toEqual([true, true, 1]);
    expect(of(evictd, 'taint').map(({ event }) => event)).toEqual(['set', 'waits']);
    expect(of(evictd, 'decision').map(victimOf)).toEqual(['batch']);
  });

  test('a cordon without an eviction: the node stays cordoned, and nothing ends', async () => {
    const { batch, web, db, start } = await scene();
    const first = await start();
    expect((await run(first, 'cordon')).code).toBe(0);
    expect(await first.stop('SIGKILL')).toBe('SIGKILL');
    const evictd = await start();
    expect((await run(evictd, 'admit', '--name', 'new')).code).toBe(1);
    await aWhile();
    expect([batch.alive, web.alive, db.alive, terms(batch)]).toEqual([true, true, true, 0]);
    expect(of(evictd, 'decision')).toEqual([]);
    expect(of(evictd, 'drain').map(({ event }) => event)).toEqual(['cordon']);
  });

  test('a drain that waits for a budget: it continues when a replica is up, and ends when the others have disappeared', async () => {
    const node = testNode();
    const directory = temporaryDirectory('/dev/shm');
    const replicas = await Promise.all(['web-1', 'web-2', 'web-3'].map((name) => workload(node.child(name))));
    const budget = { name: 'web', match: { name: 'web-*' }, minAvailable: 3 };
    const config = { ...guarding(node), disruptionBudgets: [budget] };
    const first = await new Evictd({ config, directory }).guarding();
    const draining = run(first, 'drain');
    const own = { node: { cgroup: node.path }, runtimeDirectory: `${directory}/run` };
    const waits = async () => JSON.stringify(await askEvictd(own, { method: 'GET', path: '/api/v1/drain' })).includes('healthy workloads');
    await first.until('it waits', waits);
    expect(await first.stop('SIGKILL')).toBe('SIGKILL');

    const second = await new Evictd({ config, directory }).guarding();
    await second.until('it waits again', waits);
    expect([of(second, 'decision'), replicas.map(({ alive }) => alive)]).toEqual([[], [true, true, true]]);
    const fourth = await workload(node.child('web-4'));
    await second.recorded('outcome');
    await aWhile();
    expect(of(second, 'decision').map(victimOf)).toEqual(['web-1']);
    for (const { child } of replicas.slice(1)) child.kill('SIGKILL'); // not by evictd
    const { code, stdout } = await draining;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/the node is drained: 3 ended\n$/)]);
    expect(of(second, 'decision')).toHaveLength(1);
    expect(fourth.alive).toBe(true); // it was not there when the drain began
    expect(of(second, 'drain').map(({ event }) => event)).toEqual(['begin', 'end']);
  });
});
