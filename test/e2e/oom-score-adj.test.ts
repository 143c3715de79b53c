import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { adjOf, hasCapSysResource } from '../support/oom-score-adj.js';
import { Evictd } from './evictd.js';
import { guarding, isV1, MIB, ON, processesIn, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

const TICK = { monitoringInterval: '100ms' } as const;
/** No threshold is met in these tests. */
const QUIET = { evictionHard: { 'memory.available': '1Mi' } } as const;

async function threeWorkloads() {
  const node = testNode();
  const [db, web, batch] = [node.child('db'), node.child('web'), node.child('batch')];
  const processes = {
    db: await workload(db, { holdsMib: 80 }),
    web: await workload(web, { holdsMib: 60 }),
    batch: await workload(batch, { holdsMib: 5 }),
  };
  const rules = [
    { match: { name: 'db' }, critical: true },
    { match: { name: 'batch' }, priority: -10 },
  ];
  const adjs = (): number[] => [processes.batch, processes.web, processes.db].map(({ pid }) => adjOf(pid));
  return { node, cgroups: [db, web, batch], processes, adjs, config: { ...guarding(node, rules), ...QUIET, ...TICK } };
}

const foundFiles = (evictd: Evictd): string[] =>
  readdirSync(join(evictd.directory, 'run')).filter((name) => name.includes('oom-score-adj'));

describe(`oom_score_adj (${ON})`, () => {
  test('by rank: the first place gets the highest value, a protected workload keeps its own, and all are restored at the end', async () => {
    const { config, adjs } = await threeWorkloads();
    const evictd = await new Evictd({ config: { ...config, oomScoreAdj: 'rank' } }).guarding();
    await evictd.until('values are written', () => adjs()[0] === 1000 && adjs()[1] !== 0);
    const [, web = 0, db] = adjs();
    expect(web).toBeGreaterThan(300);
    expect(web).toBeLessThan(900);
    expect(db).toBe(0);
    await aWhile(); // several ticks: nothing moves
    expect(adjs()).toEqual([1000, web, 0]);
    expect(foundFiles(evictd)).toHaveLength(1);
    expect(await evictd.stop()).toBe(0);
    expect(adjs()).toEqual([0, 0, 0]);
    expect(foundFiles(evictd)).toEqual([]);
  });

  test.each(['off', 'rank'])('after SIGKILL the next start restores the original values, with oomScoreAdj: %s', async (mode) => {
    const { config, adjs, processes } = await threeWorkloads();
    writeFileSync(`/proc/${String(processes.web.pid)}/oom_score_adj`, '40');
    const first = await new Evictd({ config: { ...config, oomScoreAdj: 'rank' } }).guarding();
    await first.until('values are written', () => adjs()[0] === 1000 && adjs()[1] !== 40);
    await first.stop('SIGKILL');
    expect(adjs()[0]).toBe(1000);

    const next = await new Evictd({ config: { ...config, oomScoreAdj: mode }, directory: first.directory }).guarding();
    expect((await next.logged(/^restored oom_score_adj/)).msg).toBe('restored oom_score_adj of 2 processes');
    if (mode === 'off') expect([adjs(), foundFiles(next)]).toEqual([[0, 40, 0], []]);
    else await next.until('values are written again', () => adjs()[0] === 1000);
    await next.stop();
    expect(adjs()).toEqual([0, 40, 0]);
  });

  test('a reload switches it on, changes the mode, and switches it off', async () => {
    const { config, adjs } = await threeWorkloads();
    const evictd = await new Evictd({ config: { ...config, oomScoreAdj: 'off' } }).guarding();
    await aWhile();
    expect([adjs(), foundFiles(evictd)]).toEqual([[0, 0, 0], []]);
    const reload = (oomScoreAdj: string): void => {
      evictd.configure({ ...config, oomScoreAdj });
      evictd.child.kill('SIGHUP');
    };
    reload('qos');
    await evictd.until('all are BestEffort', () => adjs().join() === '1000,1000,0');
    reload('rank');
    await evictd.until('the second place is lower', () => adjs()[0] === 1000 && (adjs()[1] ?? 0) < 1000);
    reload('off');
    await evictd.until('all original values are restored', () => adjs().join() === '0,0,0');
    await evictd.until('the file of original values is removed', () => foundFiles(evictd).length === 0);
  });

  test('a dry run writes nothing, and restores nothing', async () => {
    const { config, adjs } = await threeWorkloads();
    const first = await new Evictd({ config: { ...config, oomScoreAdj: 'rank' } }).guarding();
    await first.until('values are written', () => adjs()[0] === 1000);
    await first.stop('SIGKILL');
    const left = adjs();
    const dry = await new Evictd({
      config: { ...config, oomScoreAdj: 'rank' },
      args: ['--dry-run'],
      directory: first.directory,
    }).guarding();
    await aWhile();
    await dry.stop();
    expect(adjs()).toEqual(left);
    const fresh = await threeWorkloads();
    const other = await new Evictd({ config: { ...fresh.config, oomScoreAdj: 'rank' }, args: ['--dry-run'] }).guarding();
    await aWhile();
    expect(fresh.adjs()).toEqual([0, 0, 0]);
    expect(foundFiles(other)).toEqual([]);
  });

  test.each([
    ['off', 'db'],
    ['rank', 'batch'],
  ])(
    'out of memory, with oomScoreAdj: %s, the kernel kills %s first, though the protected workload is the largest',
    async (mode, victim) => {
      const node = testNode(384n << 20n);
      const inDb = node.child('db');
      const web = await workload(node.child('web'), { holdsMib: 90 });
      const batch = await workload(node.child('batch'), { holdsMib: 80 });
      // Beyond the limit by less than any of the three would free.
      const usedMib = Number(node.read(isV1 ? 'memory.usage_in_bytes' : 'memory.current')) / MIB;
      const db = await workload(inDb, { holdsMib: 100, growsMib: Math.round(384 - usedMib - 100) });
      const rules = [
        { match: { name: 'db' }, critical: true },
        { match: { name: 'batch' }, priority: -10 },
      ];
      const config = { ...guarding(node, rules), ...TICK, evictionHard: { 'memory.available': '0%' }, oomScoreAdj: mode };
      const evictd = await new Evictd({ config }).guarding();
      if (mode === 'rank') await evictd.until('values are written', () => adjOf(batch.pid) === 1000);
      const killed = (): string[] => Object.entries({ db, web, batch }).flatMap(([name, { alive }]) => (alive ? [] : name));
      db.grow();
      await evictd.until('the kernel has killed', () => killed().length > 0);
      await aWhile();
      expect(killed()).toEqual([victim]);
      expect(evictd.journal().filter(({ type }) => type === 'decision')).toEqual([]);
    },
  );

  test.runIf(!hasCapSysResource)('qos without CAP_SYS_RESOURCE causes one warning, however many processes and ticks', async () => {
    const node = testNode();
    const cgroups = [node.child('a'), node.child('b')];
    for (const cgroup of cgroups) {
      cgroup.limit(64n << 20n);
      await workload(cgroup);
      await workload(cgroup);
    }
    const rules = [{ match: { name: '*' }, requests: { memory: '64Mi' } }];
    const config = { ...guarding(node, rules), ...QUIET, ...TICK, oomScoreAdj: 'qos' };
    const evictd = await new Evictd({ config }).guarding();
    const warning = await evictd.logged(/EVICTD_OOM_SCORE_ADJ_CAPABILITY/);
    expect(warning.msg).toMatch(/from 0 to -997: EACCES.*CAP_SYS_RESOURCE/);
    await aWhile();
    expect(evictd.log.filter(({ code }) => code?.startsWith('EVICTD_OOM_SCORE_ADJ'))).toHaveLength(1);
    expect(processesIn(...cgroups).map(adjOf)).toEqual([0, 0, 0, 0]);
  });

  test.runIf(hasCapSysResource)('qos with CAP_SYS_RESOURCE lowers the value of a guaranteed workload, and restores it', async () => {
    const node = testNode();
    const a = node.child('a');
    a.limit(64n << 20n);
    const { pid } = await workload(a);
    const config = { ...guarding(node, [{ match: { name: 'a' }, requests: { memory: '64Mi' } }]), ...QUIET, ...TICK, oomScoreAdj: 'qos' };
    const evictd = await new Evictd({ config }).guarding();
    await evictd.until('the value is lowered', () => adjOf(pid) === -997);
    await evictd.stop();
    expect(adjOf(pid)).toBe(0);
    expect(existsSync(`/proc/${String(pid)}`)).toBe(true);
  });
});
