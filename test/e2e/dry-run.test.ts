import { readdirSync, readFileSync, readlinkSync, watch } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { memoryController, type TestCgroup } from '../support/cgroup.js';
import { Evictd } from './evictd.js';
import { guarding, isV1, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

/** Files of these cgroups that a process writes to from now on (inotify), not those that the kernel changes. */
function writesTo(...cgroups: readonly TestCgroup[]): Set<string> {
  const written = new Set<string>();
  for (const { dir, path } of cgroups) {
    const watcher = watch(dir, (_event, file) => {
      if (file !== null && !/\.events(\.local)?$/.test(file)) written.add(`${path}/${file}`);
    });
    onTestFinished(() => watcher.close());
  }
  return written;
}

/** Files in the cgroup filesystem that a process has open for writing. */
function openForWriting(pid: number): string[] {
  const proc = `/proc/${String(pid)}`;
  return readdirSync(`${proc}/fd`).flatMap((fd) => {
    try {
      const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`${proc}/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0', 8);
      const file = readlinkSync(`${proc}/fd/${fd}`);
      return (flags & 3) !== 0 && file.startsWith(memoryController()?.mount ?? '') ? [file] : [];
    } catch {
      return []; // it has been closed
    }
  });
}

test(`a dry run decides once per episode, and changes nothing (${ON})`, async () => {
  const node = testNode();
  const [inBatch, inWeb] = [node.child('batch'), node.child('web')];
  const batch = await workload(inBatch, { growsMib: 140, onTerm: 'exit' });
  const web = await workload(inWeb, { holdsMib: 10, onTerm: 'exit' });
  const written = writesTo(node, inBatch, inWeb);
  const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '100ms' }, args: ['--dry-run'] }).guarding();
  expect(await evictd.metric('evictd_dry_run')).toBe(1);

  batch.grow();
  const decision = await evictd.recorded('decision');
  expect(decision).toMatchObject({ dryRun: true, victim: { name: 'batch' } });
  expect(decision.message).toMatch(/^dry run: would evict batch /);
  expect(decision.processes).toMatchObject([{ pid: batch.pid, name: 'perl', rssBytes: expect.any(Number) as number }]);
  await aWhile(); // several ticks

  expect([batch.alive, web.alive]).toEqual([true, true]);
  expect([batch.said(), web.said()]).toEqual(['ready\n', 'ready\n']); // and no signal was sent
  const types = evictd.journal().map(({ type }) => type);
  expect(types.filter((type) => type === 'decision')).toHaveLength(1);
  expect(types).not.toContain('outcome');
  expect(openForWriting(evictd.pid)).toEqual([]);
  expect(await evictd.stop()).toBe(0);
  expect([...written]).toEqual([]);
});

test(`a dry run is woken by the sampler, which writes nothing (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140 });
  const evictd = await new Evictd({ config: guarding(node), args: ['--dry-run'] }).guarding();
  batch.grow();
  expect(await evictd.recorded('decision')).toMatchObject({ dryRun: true, victim: { name: 'batch' }, wake: 'sampler' });
});

test(`each episode has its own decision (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140 });
  const config = { ...guarding(node), monitoringInterval: '100ms' };
  const evictd = await new Evictd({ config, args: ['--dry-run'] }).guarding();
  batch.grow();
  await evictd.recorded('decision');
  batch.child.kill('SIGKILL');
  await evictd.until('the episode ends', () => evictd.journal().some(({ type, met }) => type === 'threshold' && met === false));
  const next = await workload(node.child('next'), { growsMib: 140 });
  next.grow();
  await evictd.recorded('decision', 'next');
  expect(evictd.journal().filter(({ type }) => type === 'decision')).toHaveLength(2);
  await aWhile();
  expect(next.alive).toBe(true);
});

test(`without a dry run the same observers see writes and signals (${ON})`, async () => {
  const node = testNode();
  const inBatch = node.child('batch');
  const batch = await workload(inBatch, { growsMib: 140 });
  const written = writesTo(node, inBatch);
  const evictd = await new Evictd({ config: guarding(node) }).guarding();
  batch.grow();
  await batch.ended;
  await evictd.recorded('outcome');
  expect([...written]).toContain(isV1 ? `${node.path}/cgroup.event_control` : `${node.path}/batch/cgroup.kill`);
});
