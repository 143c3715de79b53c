import { expect, test } from 'vitest';
import { evictd, Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { PlayedLogin } from './played-login.js';
import { aWhile } from './wait.js';

// logind is simulated, on a bus that only this evictd sees: test/systemd uses the real one.

const SHUTDOWN = { shutdownGracePeriod: '10m', shutdownGracePeriodCriticalPods: '5m' };
const CRITICAL = { match: { name: 'db' }, critical: true };
const TOLD = {
  evictionSoft: { 'memory.available': '256Mi' },
  evictionSoftGracePeriod: { 'memory.available': '1s' },
  monitoringInterval: '200ms',
};

test(`at a shutdown workloads end group by group, admit refuses, soft thresholds wait, and the journal has it (${ON})`, async () => {
  const login = await PlayedLogin.open();
  const node = testNode();
  const db = await workload(node.child('db'), { onTerm: 'exit' });
  const slow = await workload(node.child('slow'), { onTerm: 'say', holdsMib: 1, growsMib: 320 });
  const batch = await workload(node.child('batch'));
  const config = {
    ...guarding(node, [CRITICAL]),
    ...TOLD,
    evictionHard: { 'memory.available': '64Mi' },
    ...SHUTDOWN,
  };
  const guard = await new Evictd({ config, through: login.through }).guarding();
  expect(await guard.metric('evictd_graceful_shutdown_start_time_seconds')).toBe(0);
  await guard.until('evictd listens to logind', () => login.peer.calls.some(({ member }) => member === 'Get'));

  login.prepare(true);
  await batch.ended;
  await guard.until('the slow workload got SIGTERM', () => slow.said().includes('term'));
  const admit = await evictd('admit', '--config', guard.configFile, '--name', 'db');
  expect([admit.code, admit.stdout]).toEqual([1, expect.stringContaining('refused: NodeShutdown')]);
  const ready = await guard.get('/readyz');
  expect([ready?.status, ready?.body]).toEqual([503, expect.stringContaining('the machine has been shutting down since')]);
  slow.grow();
  await guard.recorded('threshold');
  await aWhile();
  await aWhile();
  expect([slow.alive, db.alive]).toEqual([true, true]);
  expect(guard.journal().filter(({ type }) => type === 'decision')).toEqual([]);

  slow.child.kill('SIGKILL');
  await db.ended;
  await guard.until('the shutdown is over', () => guard.journal().some(({ phase }) => phase === 'over'));
  const { stdout } = await evictd('history', '--config', guard.configFile, '--type', 'shutdown,ended');
  expect(stdout.split('\n').map((line) => /shutdown|ended/.exec(line)?.[0])).toEqual([
    'shutdown',
    'ended',
    'ended',
    'ended',
    'shutdown',
    undefined,
  ]);
  const ended = guard.journal().filter(({ type }) => type === 'ended');
  expect(ended).toMatchObject([
    { workload: { name: 'batch' }, result: 'ended', group: 0, inTime: true },
    { workload: { name: 'slow' }, result: 'ended' },
    { workload: { name: 'db' }, result: 'ended', group: 2_000_000_000 },
  ]);
  const [start, end] = [
    await guard.metric('evictd_graceful_shutdown_start_time_seconds'),
    await guard.metric('evictd_graceful_shutdown_end_time_seconds'),
  ];
  expect(end).toBeGreaterThan(start ?? Infinity);

  login.prepare(false);
  await guard.until('the shutdown is called off', () => guard.journal().some(({ phase }) => phase === 'called-off'));
  await guard.until('evictd is ready', async () => (await guard.get('/readyz'))?.body.includes('shutting down') === false);
  expect((await evictd('admit', '--config', guard.configFile, '--name', 'db')).code).toBe(0);
  expect(await guard.metric('evictd_evictions_total{eviction_signal="memory.available"}')).toBe(0);
});

test(`a hard threshold evicts during a shutdown (${ON})`, async () => {
  const login = await PlayedLogin.open();
  const node = testNode();
  const db = await workload(node.child('db'), { holdsMib: 1 });
  const slow = await workload(node.child('slow'), { onTerm: 'ignore', growsMib: 200 });
  const guard = await new Evictd({ config: { ...guarding(node, [CRITICAL]), ...SHUTDOWN }, through: login.through }).guarding();
  login.prepare(true);
  await guard.until('the shutdown has begun', () => guard.journal().some(({ phase }) => phase === 'begins'));
  slow.grow();
  expect(await slow.ended).toBe('SIGKILL');
  expect(await db.ended).toBe('SIGTERM');
  await guard.until('the shutdown is over', () => guard.journal().some(({ phase }) => phase === 'over'));
  expect(guard.journal().filter(({ type }) => type === 'ended')).toMatchObject([
    { workload: { name: 'slow' }, result: 'evicted', inTime: true },
    { workload: { name: 'db' }, result: 'ended' },
  ]);
  expect((await guard.recorded('decision')).victim).toMatchObject({ name: 'slow' });
});

test(`after SIGKILL during a shutdown the next evictd continues it; after SIGTERM the record names the workloads that got SIGTERM (${ON})`, async () => {
  const login = await PlayedLogin.open();
  const node = testNode();
  const db = await workload(node.child('db'));
  const slow = await workload(node.child('slow'), { onTerm: 'say' });
  const config = { ...guarding(node, [CRITICAL]), ...SHUTDOWN };
  const first = await new Evictd({ config, through: login.through }).guarding();
  login.prepare(true);
  await first.until('the slow workload got SIGTERM', () => slow.said().includes('term'));
  await first.stop('SIGKILL');
  expect([db.alive, slow.alive]).toEqual([true, true]);

  const second = await new Evictd({ config, through: login.through, directory: first.directory }).guarding();
  await second.until('the slow workload got SIGTERM again', () => slow.said().split('term').length === 3);
  expect(await second.stop()).toBe(0);
  expect([db.alive, slow.alive]).toEqual([true, true]);
  const phases = (await second.history('shutdown')).map(({ phase }) => phase);
  expect(phases).toEqual(['begins', 'begins', 'interrupted']);
  const [interrupted] = (await second.history('shutdown')).slice(-1);
  expect(interrupted).toMatchObject({ signalled: [{ name: 'slow' }], ended: [] });
});

test(`a dry run, and an evictd without shutdown grace periods, signal no workload at a shutdown (${ON})`, async () => {
  const login = await PlayedLogin.open();
  const node = testNode();
  const batch = await workload(node.child('batch'), { onTerm: 'say' });
  const dry = await new Evictd({ config: { ...guarding(node), ...SHUTDOWN }, args: ['--dry-run'], through: login.through }).guarding();
  const without = await new Evictd({ config: guarding(node), through: login.through }).guarding();
  login.prepare(true);
  expect(await dry.recorded('shutdown')).toMatchObject({ dryRun: true, phase: 'begins', groups: [{ workloads: [{ name: 'batch' }] }, {}] });
  await aWhile();
  expect([batch.alive, batch.said()]).toEqual([true, 'ready\n']);
  expect(without.journal().filter(({ type }) => type === 'shutdown')).toEqual([]);
  expect((await without.get('/readyz'))?.status).toBe(200);
});
