import { describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { askEvictd } from '../../src/node/control-client.js';
import { contradictions } from '../support/json-schema.js';
import { evictd as command, Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

const CONFIG = {
  priorityClasses: [
    { name: 'important', value: 1_000 },
    { name: 'patient', value: 2_000, preemptionPolicy: 'Never' },
  ],
};
const RULES = [
  { match: { name: 'web' }, requests: { memory: '256Mi' } },
  { match: { name: 'batch-*' }, priority: -10, requests: { memory: '128Mi' } },
  { match: { name: 'db' }, priorityClass: 'important', requests: { memory: '200Mi' } },
  { match: { name: 'report' }, priorityClass: 'patient', requests: { memory: '200Mi' } },
];

/** A node of 512 MiB, all of which is requested. */
async function fullNode() {
  const node = testNode();
  const [web, ...batch] = await Promise.all(['web', 'batch-1', 'batch-2'].map((name) => workload(node.child(name), { holdsMib: 10 })));
  const config = { ...guarding(node, RULES), ...CONFIG, evictionHard: { 'memory.available': '16Mi' } };
  const evictd = await new Evictd({ config }).guarding();
  const admit = (...args: readonly string[]) => command('admit', '--preempt', '--config', evictd.configFile, ...args);
  const decided = () => evictd.journal().filter(({ type }) => type === 'decision');
  const of = { node: { cgroup: node.path }, runtimeDirectory: join(evictd.directory, 'run') };
  const ask = (body: object) => askEvictd(of, { method: 'POST', path: '/api/v1/preempt', body: JSON.stringify(body) });
  return { evictd, web, batch, admit, ask, decided };
}

describe(`evictd admit --preempt (${ON})`, () => {
  test('shows in a dry run which workloads would end; then ends the least important ones, and admits the applicant', async () => {
    const { evictd, web, batch, admit, decided } = await fullNode();
    const would = await admit('--name', 'db', '--dry-run', '-o', 'json');
    expect([would.code, would.stderr]).toEqual([0, '']);
    expect(JSON.parse(would.stdout)).toMatchObject({
      admit: true,
      preemption: {
        ...{ dryRun: true, requested: 200 << 20, used: 512 << 20, capacity: 512 << 20 },
        workloads: [{ priority: -10, requests: 128 << 20 }, { priority: -10 }],
      },
    });
    expect([web?.alive, ...batch.map(({ alive }) => alive), decided()]).toEqual([true, true, true, []]);

    const admitted = await admit('--name', 'db');
    expect([admitted.code, admitted.stderr]).toEqual([0, '']);
    expect(admitted.stdout).toMatch(
      /^admitted: the node has no condition; batch-\d \(priority -10, 128Mi\), batch-\d \(priority -10, 128Mi\) ended for its request of 200Mi\n$/,
    );
    expect([web?.alive, ...(await Promise.all(batch.map(({ ended }) => ended)))]).toEqual([true, 'SIGTERM', 'SIGTERM']);
    expect(decided().map(({ kind, disruption }) => [kind, disruption])).toEqual(
      Array.from({ length: 2 }, () => [
        'disruption',
        {
          reason: 'preemption',
          message: 'db of priority 1000 needs room for its request of 200Mi',
          by: expect.stringMatching(/^uid 0.*, process \d+ \(evictd\)$/) as string,
        },
      ]),
    );
    expect(evictd.journal().filter(({ type }) => type === 'outcome')).toHaveLength(2);
    const again = await admit('--name', 'db');
    expect(again.stdout).toBe('admitted: the node has no condition; its request of 200Mi fits: 256Mi of 512Mi are not requested\n');
  });

  test.each<[rule: string, args: readonly string[], why: string]>([
    [
      'the applicant is no more important than others',
      ['--name', 'batch-3'],
      'the less important workloads that evictd may end do not request enough',
    ],
    ['the class of the applicant never preempts', ['--name', 'report'], 'its preemptionPolicy is Never'],
    ['the applicant can never fit', ['--name', 'db', '--requests', 'memory=1Gi'], 'it requests more than there is'],
  ])('refuses: %s', async (_rule, args, why) => {
    const { web, batch, admit, decided } = await fullNode();
    const { code, stdout, stderr } = await admit(...args);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(
      /^refused: OutOfmemory: Node didn't have enough resource: memory, requested: \d+, used: 536870912, capacity: 536870912; no preemption: /,
    );
    expect(stdout).toContain(why);
    expect([web?.alive, ...batch.map(({ alive }) => alive), decided()]).toEqual([true, true, true, []]);
  });

  test('waits at most --timeout for a victim that ignores SIGTERM, and the next call waits for the same victim', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch-1'), { onTerm: 'ignore' });
    const rules = [{ match: { name: 'batch-*' }, requests: { memory: '512Mi' }, terminationGracePeriodSeconds: 2 }, ...RULES.slice(2)];
    const config = { ...guarding(node, rules), ...CONFIG, evictionHard: { 'memory.available': '16Mi' } };
    const evictd = await new Evictd({ config }).guarding();
    const admit = (...args: readonly string[]) => command('admit', '--preempt', '--name', 'db', '--config', evictd.configFile, ...args);
    const first = await admit('--timeout', '0s');
    expect([first.code, first.stdout]).toEqual([1, 'refused: OutOfmemory: batch-1 did not end within 0s (a Burstable workload)\n']);
    expect(await admit()).toMatchObject({ code: 0, stderr: '' });
    expect(await batch.ended).toBe('SIGKILL');
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
    const why = 'db of priority 1000 needs room for its request of 200Mi';
    const history = await command('history', '--config', evictd.configFile);
    expect(history.stdout).toMatch(
      new RegExp(`evicted +batch-1 by SIGTERM \\(2 s\\), then SIGKILL \\(grace period over\\): ${why} \\(preemption\\); `),
    );
    const explained = await command('explain', 'batch-1', '--at', 'now', '--config', evictd.configFile);
    expect([explained.code, explained.stderr]).toEqual([0, '']);
    expect(explained.stdout).toContain(why);
  });

  test('has the answers of docs/openapi.yaml, and refuses a wrong request', async () => {
    const { ask, batch } = await fullNode();
    for (const memory of ['0', '1Mi', '1Gi'])
      expect(contradictions('Preemption', await ask({ requests: { memory }, priority: 1, dryRun: true }))).toEqual([]);
    for (const [body, why] of [
      [{ dryRun: true }, 'requests is missing'],
      [{ requests: { memory: '1GB' } }, 'requests.memory: quantities'],
      [{ requests: { memory: '1Gi' }, priority: 2 ** 31 }, 'priority is missing or has a wrong value'],
      [{ requests: { memory: '1Gi' }, dryrun: true }, 'it has "dryrun"'],
    ] as const)
      await expect(ask(body)).rejects.toMatchObject({ code: 'EVICTD_PREEMPT_REQUEST', message: expect.stringContaining(why) as string });
    expect(batch.map(({ alive }) => alive)).toEqual([true, true]);
  });

  test('ends nothing without evictd, and says so', async () => {
    const { evictd, web, batch, admit } = await fullNode();
    await evictd.stop('SIGKILL');
    const open = await admit('--name', 'db');
    expect([open.code, open.stdout]).toEqual([0, 'admitted: whether its request fits is unknown (EVICTD_PREEMPT_NO_INSTANCE)\n']);
    expect(open.stderr).toMatch(/^evictd: EVICTD_PREEMPT_NO_INSTANCE: no evictd guards this node/);
    expect((await admit('--name', 'db', '--fail-closed')).code).toBe(1);
    expect([web?.alive, ...batch.map(({ alive }) => alive)]).toEqual([true, true, true]);
  });
});
