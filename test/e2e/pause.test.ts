import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askEvictd } from '../../src/node/control-client.js';
import { contradictions } from '../support/json-schema.js';
import { evictd as command, Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { StalledEvictd } from './stalled.js';
import { aWhile } from './wait.js';

const typed = (evictd: Evictd, type: string) => evictd.journal().filter((line) => line.type === type);
const config = (node: ReturnType<typeof testNode>) => ({ ...guarding(node), monitoringInterval: '200ms' });
const pause = (evictd: Evictd, ...args: readonly string[]) =>
  command('pause', ...args, '--reason', 'disk swap', '--config', evictd.configFile);

describe(`evictd pause (${ON})`, () => {
  test('causes an alert and no signal for a leak past a hard threshold, also after a restart, and resume evicts at once', async () => {
    const node = testNode();
    const directory = scratchDirectory();
    const web = await workload(node.child('web'), { holdsMib: 40 });
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
    const first = await new Evictd({ config: config(node), directory }).guarding();
    const paused = await pause(first, '30m');
    expect([paused.code, paused.stderr]).toEqual([0, '']);
    expect(paused.stdout).toMatch(/^an operator has paused evictions until .*: disk swap\n$/);

    batch.grow();
    const alert = await first.recorded('alert');
    expect(alert).toMatchObject({ alert: 'paused', pauseReason: 'disk swap', wouldEvict: { name: 'batch' } });
    expect([await first.metric('evictd_paused'), await first.metric('evictd_evictions_total{eviction_signal="memory.available"}')]).toEqual(
      [1, 0],
    );
    await first.stop('SIGKILL');

    const second = await new Evictd({ config: config(node), directory }).guarding();
    await second.until('its start is recorded', () => typed(second, 'start').length === 2);
    expect(typed(second, 'start').at(-1)?.resumed).toMatchObject({ pauses: [{ reason: 'disk swap' }] });
    expect(await second.metric('evictd_paused')).toBe(1);
    await aWhile();
    expect([web.alive, batch.alive, typed(second, 'decision')]).toEqual([true, true, []]);

    const resumed = await command('resume', '--config', second.configFile);
    expect(resumed.stdout).toContain('the pause is over (disk swap)');
    expect(await batch.ended).toBe('SIGKILL');
    expect((await second.recorded('outcome')).result).toBe('killed');
    expect([web.alive, await second.metric('evictd_paused')]).toEqual([true, 0]);
    expect(typed(second, 'resume')).toMatchObject([
      { pauses: [{ reason: 'disk swap' }], by: expect.stringMatching(/^uid 0.*, process \d+ \(evictd\)$/) as string },
    ]);
  });

  test('of one workload makes another the victim, and the status has the reason', async () => {
    const node = testNode();
    const web = await workload(node.child('web'), { holdsMib: 40 });
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
    const evictd = await new Evictd({ config: config(node) }).guarding();
    expect((await pause(evictd, '30m', '--workload', 'batch')).code).toBe(0);
    batch.grow();
    await evictd.recorded('outcome');
    expect(await web.ended).toBe('SIGKILL');
    expect(batch.alive).toBe(true);
    const of = { node: { cgroup: node.path }, runtimeDirectory: join(evictd.directory, 'run') };
    const status = (await askEvictd(of, { method: 'GET', path: '/api/v1/status' })) as Record<string, unknown>;
    expect(contradictions('Status', status)).toEqual([]);
    expect(status).toMatchObject({
      pauses: [{ kind: 'operator' }],
    });
    const { candidates } = status as { readonly candidates: { readonly workloads: readonly { readonly name: string }[] } };
    expect(candidates.workloads.find(({ name }) => name === 'batch')).toMatchObject({
      protection: 'an operator has paused its eviction: disk swap',
    });
    await evictd.until('doctor has the pause; a slow machine may answer it too late', async () => {
      const { checks } = JSON.parse((await command('doctor', '-o', 'json', '--config', evictd.configFile)).stdout) as {
        readonly checks: readonly { readonly id: string; readonly status: string; readonly summary: string }[];
      };
      const check = checks.find(({ id }) => id === 'service.pause');
      return check?.status === 'degraded' && /^an operator has paused evictions of batch until .*: disk swap$/.test(check.summary);
    });
    const answer = await askEvictd(of, { method: 'POST', path: '/api/v1/resume' });
    expect(contradictions('Pauses', answer)).toEqual([]);
  });

  test('withdraws the standing order, so that a stalled evictd evicts nothing', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
    const stalled = new StalledEvictd('a stopped thread', { ...config(node), standingOrder: { after: '5ms' } });
    const evictd = await stalled.evictd.guarding();
    expect((await pause(evictd, '30m')).code).toBe(0);
    await stalled.begin();
    batch.grow();
    await aWhile();
    stalled.end();
    expect(await evictd.recorded('alert')).toMatchObject({ alert: 'paused' });
    expect([batch.alive, typed(evictd, 'decision')]).toEqual([true, []]);
  });

  test('refuses a wrong request, and pauses nothing', async () => {
    const evictd = await new Evictd({ config: { ...config(testNode()), pause: { max: '1h' } } }).guarding();
    for (const [args, code] of [
      [['2h'], 'EVICTD_PAUSE_LENGTH'],
      [['1h', '--workload', 'none'], 'EVICTD_PAUSE_WORKLOAD'],
    ] as const) {
      const refused = await pause(evictd, ...args);
      expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining(code)]);
    }
    expect(await evictd.metric('evictd_paused')).toBe(0);
    await evictd.stop('SIGKILL');
    const later = await pause(evictd, '30m');
    expect([later.code, later.stderr]).toEqual([75, expect.stringContaining('EVICTD_PAUSE_NO_INSTANCE')]);
  });
});
