import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askEvictd } from '../../src/node/control-client.js';
import { contradictions } from '../support/json-schema.js';
import { evictd as command, Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

const MAINTENANCE = 'maintenance=yes:NoExecute';
const tolerating = (name: string, tolerationSeconds?: number) => {
  const forAWhile = tolerationSeconds !== undefined && { tolerationSeconds };
  return { match: { name }, tolerations: [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', ...forAWhile }] };
};
const typed = (evictd: Evictd, type: string) => evictd.journal().filter((line) => line.type === type);
const taint = (evictd: Evictd, ...taints: readonly string[]) => command('taint', ...taints, '--config', evictd.configFile);
const admit = (evictd: Evictd, name: string) => command('admit', '--name', name, '--config', evictd.configFile);

describe(`evictd taint (${ON})`, () => {
  test('with NoExecute evicts workloads without a toleration, its times continue after kill -9, and the taint stays', async () => {
    const node = testNode();
    const directory = scratchDirectory();
    const rules = [tolerating('api'), tolerating('web', 15), { match: { name: 'db' }, critical: true }];
    const config = { ...guarding(node, rules), monitoringInterval: '200ms' };
    const [api, web, db, batch] = [
      await workload(node.child('api')),
      await workload(node.child('web')),
      await workload(node.child('db')),
      await workload(node.child('batch')),
    ];
    const first = await new Evictd({ config, directory }).guarding();
    expect(await taint(first, MAINTENANCE)).toEqual({ code: 0, stdout: `set ${MAINTENANCE}\n`, stderr: '' });
    expect(await batch.ended).toBe('SIGTERM');
    expect(await first.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    const [decision] = typed(first, 'decision');
    expect(decision).toMatchObject({ disruption: { reason: 'taint', message: `it does not tolerate the taint ${MAINTENANCE}` } });
    expect(typed(first, 'taint')).toMatchObject([{ event: 'set' }, { event: 'waits', seconds: 15, workload: { name: 'web' } }]);

    const of = { node: { cgroup: node.path }, runtimeDirectory: join(directory, 'run') };
    const status = await askEvictd(of, { method: 'GET', path: '/api/v1/status' });
    expect(contradictions('Status', status)).toEqual([]);
    expect(status).toMatchObject({ taints: [{ taint: MAINTENANCE, from: 'operator', evictions: [{ name: 'web' }] }] });
    expect((await taint(first)).stdout).toMatch(/^maintenance=yes:NoExecute\n {2}web is evicted at \d{4}-.*Z\n$/);
    expect(await first.metric('evictd_taint_evictions_waiting')).toBe(1);
    expect(web.alive).toBe(true);
    await first.stop('SIGKILL');

    const second = await new Evictd({ config, directory }).guarding();
    expect(await web.ended).toBe('SIGTERM');
    expect(await second.recorded('outcome', 'web')).toMatchObject({ result: 'killed' });
    expect(typed(second, 'start').at(-1)?.resumed).toMatchObject({ taints: [MAINTENANCE] });
    expect(typed(second, 'decision').at(-1)).toMatchObject({ disruption: { message: `it tolerated the taint ${MAINTENANCE} for 15s` } });

    expect([(await admit(second, 'batch')).code, (await admit(second, 'api')).code, (await admit(second, 'db')).code]).toEqual([1, 0, 0]);
    const late = await node.child('late').spawn('sleep', ['600']); // may end before it could say that it is ready
    expect(await late.ended).toBe('SIGTERM');
    await aWhile();
    expect([api.alive, db.alive]).toEqual([true, true]);
    expect((await taint(second, 'maintenance-')).stdout).toBe(`removed ${MAINTENANCE}\n`);
    expect([(await taint(second)).stdout, (await admit(second, 'batch')).code]).toEqual(['no taints\n', 0]);
    const after = await workload(node.child('after'));
    await aWhile();
    expect(after.alive).toBe(true);
  });

  test('that is removed cancels waiting evictions, and a wrong request is refused and changes nothing', async () => {
    const node = testNode();
    await workload(node.child('web'));
    const taints = ['rack=1:PreferNoSchedule'];
    const config = { ...guarding(node, [tolerating('web', 600)]), monitoringInterval: '200ms', taints };
    const evictd = await new Evictd({ config }).guarding();
    await taint(evictd, MAINTENANCE);
    for (const [change, code] of [
      ['maintenance=yes:Evict', 'REQUEST'],
      ['disk-', 'ABSENT'],
      ['rack-', 'CONFIGURED'],
      ['node.kubernetes.io/pid-pressure:NoSchedule', 'CONDITION'],
    ] as const) {
      const refused = await taint(evictd, 'gpu=yes:NoSchedule', change);
      expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining(`EVICTD_TAINT_${code}`)]);
    }
    const of = { node: { cgroup: node.path }, runtimeDirectory: join(evictd.directory, 'run') };
    const answer = await askEvictd(of, { method: 'POST', path: '/api/v1/taints', body: JSON.stringify({ taints: ['maintenance-'] }) });
    expect(contradictions('Taints', answer)).toEqual([]);
    expect(answer).toMatchObject({ taints: [{ key: 'rack' }], taintEvictions: [] });
    await evictd.until('the journal has it', () => typed(evictd, 'taint').length === 4);
    expect(typed(evictd, 'taint').map(({ event }) => event)).toEqual(['set', 'waits', 'removed', 'cancelled']);
    expect((await taint(evictd)).stdout).toBe('rack=1:PreferNoSchedule (configuration)\n');
    await evictd.stop('SIGKILL');
    expect(await taint(evictd, MAINTENANCE)).toMatchObject({
      code: 75,
      stderr: expect.stringContaining('EVICTD_TAINT_NO_INSTANCE') as string,
    });
  });
});
