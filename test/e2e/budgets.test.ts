import { describe, expect, test } from 'vitest';
import { evictd as command, Evictd, scratchDirectory, victimOf } from './evictd.js';
import { guarding, ON, testNode, workload, type Workload } from './node.js';
import type { TestCgroup } from '../support/cgroup.js';

const budget = { name: 'web', match: { name: 'web-*' }, minAvailable: 2 };
const BY = expect.stringMatching(/^uid 0.*, process \d+ \(evictd\)$/) as string;
const CRITICAL = [{ match: { name: 'db' }, critical: true }];
const evict = (evictd: Evictd, ...args: readonly string[]) => command('evict', ...args, '--config', evictd.configFile);

describe(`evictd evict (${ON})`, () => {
  test('sends SIGTERM as far as the budget permits, has a grace period and an outcome, and reports refused workloads separately', async () => {
    const node = testNode();
    const [one, two, three, db] = await Promise.all(
      ['web-1', 'web-2', 'web-3', 'db'].map((name) => workload(node.child(name), { onTerm: 'ignore' })),
    );
    const evictd = await new Evictd({ config: { ...guarding(node, CRITICAL), disruptionBudgets: [budget] } }).guarding();

    const dry = await evict(evictd, 'web-1', '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([0, 'web-1 would be evicted\n']);
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toEqual([]);

    const done = await evict(evictd, 'web-1', '--grace', '1s', '--wait');
    expect([done.code, done.stdout, done.stderr]).toEqual([0, expect.stringMatching(/^web-1 is being evicted\nevicted web-1: freed /), '']);
    expect(await one?.ended).toBe('SIGKILL'); // it ignores SIGTERM
    expect(await evictd.recorded('decision')).toMatchObject({
      kind: 'disruption',
      disruption: { reason: 'eviction', by: BY },
      graceSeconds: 1,
    });

    for (const [what, value] of [
      ['expected_workloads', 3],
      ['current_healthy', 2],
      ['desired_healthy', 2],
      ['disruptions_allowed', 0],
    ] as const)
      expect([what, await evictd.metric(`evictd_disruption_budget_${what}{budget="web"}`)]).toEqual([what, value]);
    expect((await command('status', '--config', evictd.configFile)).stdout).toContain(
      'disruption budget web: 2 of 3 healthy, 2 desired, 0 may be evicted',
    );
    const refused = await evict(evictd, 'web-2', 'db', 'nginx');
    expect(refused.code).toBe(75);
    const needs = 'the disruption budget web needs 2 healthy workloads and has 2 currently';
    expect(refused.stderr).toContain(`EVICTD_EVICT_BUDGET: web-2 is not evicted: ${needs}`);
    expect(refused.stderr).toContain('EVICTD_EVICT_REFUSED: db is not evicted: critical');
    expect(refused.stderr).toContain('EVICTD_EVICT_WORKLOAD: there is no workload nginx, or it has no process');
    expect((await evict(evictd, 'db')).code).toBe(1);
    expect((await evict(evictd, 'nginx')).code).toBe(66);
    expect([two?.alive, three?.alive, db?.alive]).toEqual([true, true, true]);
  });
});

/** Starts a workload again in its cgroup when it has ended, as a service manager does, until there were so many. */
async function supervised(
  cgroup: TestCgroup,
  atMost: number,
  plan: Parameters<typeof workload>[1] = {},
): Promise<() => readonly Workload[]> {
  const runs = [await workload(cgroup, plan)];
  const again = async (): Promise<void> => {
    await runs.at(-1)?.ended;
    if (runs.length >= atMost) return;
    runs.push(await workload(cgroup, plan));
    void again();
  };
  void again();
  return () => runs;
}

const drain = (evictd: Evictd, ...args: readonly string[]) => command('drain', ...args, '--config', evictd.configFile);
const decisions = (evictd: Evictd) => evictd.journal().filter(({ type }) => type === 'decision');

describe(`evictd drain (${ON})`, () => {
  test('evicts workloads one after the other as they are replaced, also across a SIGKILL to evictd, and keeps protected ones', async () => {
    const node = testNode();
    const directory = scratchDirectory();
    const config = { ...guarding(node, CRITICAL), disruptionBudgets: [budget] };
    const db = await workload(node.child('db'));
    const web = await Promise.all(
      ['web-1', 'web-2', 'web-3'].map((name) => supervised(node.child(name), 2, name === 'web-2' ? { onTerm: 'ignore' } : {})),
    );
    const first = await new Evictd({ config, directory }).guarding();
    const dry = await drain(first, '--dry-run');
    const waits = 'the disruption budget web permits 1 of 3 evictions now: the drain waits until workloads of it are up again\n';
    expect(dry.stdout).toBe(`${waits}db stays: critical\nweb-1 would be evicted\nweb-2 would be evicted\nweb-3 would be evicted\n`);

    const draining = drain(first, '--grace', '3s');
    await first.until('the one that ignores SIGTERM is being evicted', () => decisions(first).length === 2);
    const again = await drain(first);
    expect([again.code, again.stderr]).toEqual([75, expect.stringContaining('EVICTD_DRAIN_UNDER_WAY')]);
    await first.stop('SIGKILL');

    const second = await new Evictd({ config, directory }).guarding();
    const { code, stdout, stderr } = await draining;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /\ndb stays: critical\n[^]*web-2 waits: the disruption budget web needs 2 healthy workloads and has 2 currently\n/,
    );
    expect(stdout).toMatch(/web-1 has ended\n[^]*web-3 has ended\nthe node is drained: 3 ended\n$/);
    expect(decisions(second).map(victimOf)).toEqual(['web-1', 'web-2', 'web-3']);
    await second.until('every replica runs again', () => web.every((runs) => runs().length === 2));
    const ends = await Promise.all(web.flatMap((runs) => runs().slice(0, 1)).map(({ ended }) => ended));
    expect(ends).toEqual(['SIGTERM', 'SIGKILL', 'SIGTERM']);
    expect(db.alive).toBe(true);
    const events = second.journal().filter(({ type }) => type === 'drain');
    expect(events).toMatchObject([
      { event: 'begin', total: 3, by: BY, message: expect.stringMatching(/^uid 0.* drains the node: 3 workloads to end$/) as string },
      { event: 'end', because: 'drained', total: 3 },
    ]);

    const file = ['--config', second.configFile];
    const admitted = await command('admit', '--name', 'new', ...file);
    expect([admitted.code, admitted.stdout + admitted.stderr]).toEqual([1, expect.stringContaining('node.kubernetes.io/unschedulable')]);
    expect((await command('uncordon', ...file)).code).toBe(0);
    await second.until('workloads may start', async () => (await command('admit', '--name', 'new', ...file)).code === 0);
  });

  test('lists the workloads that would end with an evictd in dry run, and drains nothing', async () => {
    const node = testNode();
    const web = await workload(node.child('web-1'));
    const evictd = await new Evictd({ config: guarding(node), args: ['--dry-run'] }).guarding();
    const { code, stdout, stderr } = await drain(evictd);
    expect([code, stdout]).toEqual([75, 'web-1 would be evicted\n']);
    expect(stderr).toContain('EVICTD_DRAIN_DRY_RUN: evictd makes a dry run on this node: it has ended nothing');
    expect((await evict(evictd, 'web-1')).stdout).toBe('web-1 would be evicted: evictd makes a dry run, and ends nothing\n');
    expect(web.alive).toBe(true);
  });

  test('prints one JSON document for every request of an operator', async () => {
    const node = testNode();
    await workload(node.child('web-1'));
    const evictd = await new Evictd({ config: guarding(node) }).guarding();
    const asked = async (...args: readonly string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await command(...args, '--output', 'json', '--config', evictd.configFile);
      expect([args, code, stderr]).toEqual([args, 0, '']);
      return JSON.parse(stdout);
    };
    const message = expect.stringMatching(/./) as string;
    expect(await asked('pause', '1m', '--reason', 'test')).toMatchObject({ message });
    expect(await asked('resume')).toMatchObject({ message });
    expect(await asked('taint', 'a=b:NoSchedule')).toMatchObject({ message });
    expect(await asked('taint')).toEqual({ taints: [{ taint: 'a=b:NoSchedule', from: 'operator', evictions: [] }] });
    expect(await asked('cordon')).toMatchObject({ message, drain: { state: 'cordoned' } });
    expect(await asked('uncordon')).toMatchObject({ message, drain: null });
    expect(await asked('reload')).toEqual({ pid: evictd.child.pid, reloaded: true, refused: [], warnings: [] });
    expect(await asked('drain', '--dry-run')).toMatchObject({ dryRun: true, ends: ['web-1'], stays: [], drain: null });
    expect(await asked('drain', '--grace', '0s')).toMatchObject({ dryRun: false, ends: ['web-1'], drain: { state: 'drained', total: 1 } });
  });

  test('times out under a budget that permits no eviction, and ends nothing', async () => {
    const node = testNode();
    const replicas = await Promise.all(['web-1', 'web-2'].map((name) => workload(node.child(name))));
    const evictd = await new Evictd({ config: { ...guarding(node), disruptionBudgets: [budget] } }).guarding();
    const { code, stderr } = await drain(evictd, '--timeout', '2s');
    expect([code, stderr]).toEqual([
      75,
      expect.stringContaining('EVICTD_DRAIN_TIMEOUT: the time of the drain is over; not ended: web-1, web-2'),
    ]);
    expect([decisions(evictd), replicas.map(({ alive }) => alive)]).toEqual([[], [true, true]]);
  });
});
