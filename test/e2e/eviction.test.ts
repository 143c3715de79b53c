import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Evictd, EVICTD, victimOf } from './evictd.js';
import { guarding, isV1, MIB, ON, processesIn, testNode, WATCHES, workload } from './node.js';
import { aWhile } from './wait.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

// A real node, real processes, real pressure. The names of the tests have the cgroup version.

interface RankingRow {
  readonly place: number;
  readonly name: string;
  readonly exceedsRequest: boolean;
  readonly priority: number;
  readonly aboveRequestBytes: number;
  readonly workingSetBytes: number;
  readonly requestBytes: number;
  readonly startOrder: number;
  readonly protected?: string;
  readonly protectedBecause?: string;
}

describe(`a hard eviction (${ON})`, () => {
  test('evicts exactly one workload, and the journal has the decision with its reason before the outcome', async () => {
    const node = testNode();
    const db = await workload(node.child('db'), { holdsMib: 40 });
    const web = await workload(node.child('web'), { holdsMib: 20 });
    const batch = await workload(node.child('batch'), { growsMib: 100 });
    const rules = [
      { match: { name: 'db' }, critical: true },
      { match: { name: 'web' }, requests: { memory: '64Mi' } },
      { match: { name: 'batch' }, priority: -10 },
    ];
    const evictd = await new Evictd({ config: guarding(node, rules) }).guarding();

    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    const outcome = await evictd.recorded('outcome');
    await aWhile(); // a second victim would be a defect

    expect([db.alive, web.alive]).toEqual([true, true]);
    const journal = evictd.journal();
    expect(journal.map(({ type }) => type).filter((type) => type === 'decision' || type === 'outcome')).toEqual(['decision', 'outcome']);
    const decision = journal.find(({ type }) => type === 'decision');
    expect(decision).toMatchObject({
      node: node.path,
      decision: 1,
      dryRun: false,
      signal: 'memory.available',
      kind: 'hard',
      threshold: '384Mi',
      thresholdValue: 384 * MIB,
      limit: 384 * MIB,
      capacity: 512 * MIB,
      victim: { name: 'batch', path: `${node.path}/batch` },
      action: 'SIGKILL',
      graceSeconds: 0,
      unreadable: [],
    });
    expect(decision?.available).toBeLessThan(384 * MIB);
    expect(decision?.message).toMatch(
      /^evicting batch with SIGKILL: memory\.available .* < 384Mi \(hard\); batch uses .*, has no request, priority -10$/,
    );
    const who = [{ pid: batch.pid, name: 'perl', uid: 0, user: 'root' }];
    expect(decision?.processes ?? outcome.processes).toMatchObject(who); // of the outcome where the approach was too short
    const ranking = decision?.ranking as RankingRow[];
    expect(ranking.map(({ place, name, exceedsRequest, priority }) => [place, name, exceedsRequest, priority])).toEqual([
      [1, 'batch', true, -10],
      [2, 'db', true, 0],
      [3, 'web', false, 0],
    ]);
    expect(ranking[1]).toMatchObject({ protected: 'critical', protectedBecause: 'critical' });
    for (const { aboveRequestBytes, workingSetBytes, requestBytes } of ranking)
      expect(aboveRequestBytes).toBe(workingSetBytes - requestBytes);
    expect(ranking.map(({ requestBytes }) => requestBytes)).toEqual([0, 0, 64 * MIB]);
    expect(ranking[0]?.workingSetBytes).toBe(decision?.expectedBytes);
    expect(ranking[0]?.workingSetBytes).toBeGreaterThan(40 * MIB);

    expect(outcome).toMatchObject({ decision: 1, result: 'killed', victim: { name: 'batch' }, nodeAvailableBefore: decision?.available });
    expect(outcome.freedBytes).toBeGreaterThan(40 * MIB);
    expect(outcome.nodeAvailableAfter).toBeGreaterThan(384 * MIB);
    const spans = outcome.spansMs as Record<string, number>;
    expect(Object.keys(spans)).toEqual([
      ...['crossingToWake', 'wakeToDecision', 'decisionToCandidates', 'candidatesToChoice', 'choiceToRecord', 'recordToSignal'],
      ...['decisionToSignal', 'crossingToSignal', 'signalToExit'],
    ]);
    for (const span of Object.values(spans)) expect(span).toBeGreaterThanOrEqual(0);
    expect(WATCHES).toContain(decision?.wake);
    expect(await evictd.stop()).toBe(0);
  });

  test.each<[rule: string, rules: Record<string, object>, holds: Record<string, number>, victim: string]>([
    [
      'the workload over its request before one of lower priority',
      { a: { priority: -5, requests: { memory: '100Mi' } }, b: { priority: 5 } },
      { a: 50, b: 30 },
      'b',
    ],
    ['the workload of lower priority among those over their request', { a: { priority: 1 }, b: { priority: 0 } }, { a: 60, b: 20 }, 'b'],
    [
      'the workload further above its request among those of equal priority',
      { a: {}, b: { requests: { memory: '60Mi' } } },
      { a: 40, b: 70 },
      'a',
    ],
    ['the next workload if the first is critical', { a: { priority: -5, critical: true }, b: {} }, { a: 60, b: 20 }, 'b'],
    [
      'the lower priority if there is no workload over its request',
      { a: { priority: 2, requests: { memory: '200Mi' } }, b: { priority: 1, requests: { memory: '200Mi' } } },
      { a: 60, b: 20 },
      'b',
    ],
  ])('%s', async (_rule, rules, holds, victim) => {
    const node = testNode();
    // The pressure comes from a workload that may not be evicted.
    const pressure = await workload(node.child('pressure'), { growsMib: 120 });
    const processes = new Map<string, Awaited<ReturnType<typeof workload>>>();
    for (const [name, holdsMib] of Object.entries(holds)) processes.set(name, await workload(node.child(name), { holdsMib }));
    const list = Object.entries(rules).map(([name, rule]) => ({ match: { name }, ...rule }));
    // Slightly less than all hold together; without any one of them usage is below: one eviction is enough.
    const total = Object.values(holds).reduce((sum, mib) => sum + mib, 0) + 120;
    const available = `${String(512 - total + 5)}Mi`;
    const config = {
      ...guarding(node, [...list, { match: { name: 'pressure' }, critical: true }]),
      evictionHard: { 'memory.available': available },
    };
    const evictd = await new Evictd({ config }).guarding();

    pressure.grow();
    await evictd.recorded('outcome');
    await aWhile();

    expect([...processes].filter(([, { alive }]) => !alive).map(([name]) => name)).toEqual([victim]);
    expect(pressure.alive).toBe(true);
    expect(
      evictd
        .journal()
        .filter(({ type }) => type === 'decision')
        .map(victimOf),
    ).toEqual([victim]);
  });

  test('alerts and evicts nothing with only protected workloads', async () => {
    const node = testNode();
    const db = await workload(node.child('db'), { growsMib: 140 });
    const evictd = await new Evictd({ config: guarding(node, [{ match: { name: 'db' }, critical: true }]) }).guarding();
    db.grow();
    expect(await evictd.recorded('alert')).toMatchObject({ alert: 'nothing-evictable', signal: 'memory.available', kind: 'hard' });
    expect((await evictd.logged(/: no workload may be evicted$/)).level).toBe('error');
    await aWhile();
    expect(db.alive).toBe(true);
    expect(evictd.journal().filter(({ type }) => ['decision', 'outcome'].includes(type))).toEqual([]);
    expect(evictd.journal().filter(({ type }) => type === 'alert')).toHaveLength(1); // once per episode
  });

  test('evicts neither itself nor a workload with one of its ancestors', async () => {
    const node = testNode();
    const [parent, self] = [node.child('parent'), node.child('self')];
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const rules = [
      { match: { name: 'batch' }, priority: 100, requests: { memory: '400Mi' } }, // the least likely, but for the protection
      { match: { name: 'parent' }, priority: -100 },
      { match: { name: 'self' }, priority: -100 },
    ];
    const into = (dir: string): string => `echo $$ > ${dir}/cgroup.procs`;
    const through = [
      'sh',
      '-c',
      `${into(parent.dir)} && sh -c '${into(self.dir)} && exec "$@"' sh "$@" & trap 'kill $!' TERM; wait $!; wait $!`,
      'sh',
    ];
    const evictd = await new Evictd({ config: guarding(node, rules), through }).guarding();
    expect([processesIn(parent).length, processesIn(self).length]).toEqual([1, 1]);

    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    const ranking = (await evictd.recorded('decision')).ranking as RankingRow[];
    expect(ranking.map(({ name, protected: kind }) => [name, kind])).toEqual(
      expect.arrayContaining([
        ['parent', 'self'],
        ['self', 'self'],
        ['batch', undefined],
      ]),
    );
    await aWhile();
    expect([processesIn(parent).length, processesIn(self).length]).toEqual([1, 1]);
    expect(await evictd.get('/healthz')).toMatchObject({ status: 200 });
  });

  test('kills a workload that forks all the time, in nested cgroups, to the last process', async () => {
    const node = testNode();
    const batch = node.child('batch');
    const [one, two] = [batch.child('one'), batch.child('two')];
    const fork = 'while :; do sleep 0.3 & sleep 0.005; done';
    await one.spawn('/bin/sh', ['-c', fork]);
    await two.spawn('/bin/sh', ['-c', fork]);
    const hog = await workload(two, { growsMib: 140 });
    if (isV1) await batch.spawn('/bin/sh', ['-c', fork]); // v2 has no processes in inner cgroups
    const evictd = await new Evictd({ config: guarding(node) }).guarding();
    hog.grow();
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect(processesIn(batch, one, two)).toEqual([]);
    await aWhile();
    expect(processesIn(batch, one, two)).toEqual([]); // a process forked during the kill would be visible by now
  });
});

describe(`evictd is woken (${ON})`, () => {
  test('by the kernel, an hour before the next tick', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1h' } }).guarding();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect(WATCHES).toContain((await evictd.recorded('decision')).wake);
  });

  test('by a tick, if no usage crosses because the node has become smaller', async () => {
    const node = testNode(1024n << 20n);
    const batch = await workload(node.child('batch'), { holdsMib: 160 });
    const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '200ms' } }).guarding();
    await aWhile();
    expect(batch.alive).toBe(true);
    node.limit(512n << 20n);
    expect(await batch.ended).toBe('SIGKILL');
    // a tick also requests filesystem statistics, whose answer wakes evictd again
    expect(await evictd.recorded('decision')).toMatchObject({
      wake: expect.stringMatching(/^(tick|filesystem)$/) as string,
      capacity: 512 * MIB,
    });
  });

  test('by the sampler, if the kernel refuses its notification, and evictd logs that', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    // Read-only for evictd alone, in a mount namespace.
    const readOnly = `mount --bind ${node.dir} ${node.dir} && mount -o remount,bind,ro ${node.dir} && exec "$@"`;
    const through = ['unshare', '--mount', 'sh', '-c', readOnly, 'sh'];
    const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1h' }, through }).guarding();
    if (isV1) {
      expect((await evictd.logged(/^notifier memcg_threshold on memory\.usage_in_bytes .* could not be armed: .*/)).level).toBe('warn');
      expect(await evictd.metric('evictd_notifier_live{mechanism="memcg_threshold"}')).toBe(0);
      expect((await evictd.get('/readyz'))?.body).toMatch(/notifier memcg_threshold .* is not live/);
    }
    expect(await evictd.metric('evictd_notifier_live{mechanism="sampler"}')).toBe(1);
    expect(await evictd.metric('evictd_signal_polled{eviction_signal="memory.available"}')).toBe(0);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect((await evictd.recorded('decision')).wake).toBe('sampler');
  });

  test('but evicts no workload for page cache that can be reclaimed, because the armed threshold moves', async () => {
    const node = testNode();
    const files = temporaryDirectory('/var/tmp');
    expect(statfsSync(files).type, '/var/tmp is a disk, not a tmpfs').not.toBe(0x01021994);
    // Written and dropped before, then read in the cgroup: dirty pages cannot be dropped, and the kernel would count
    // them as active.
    const file = join(files, 'cache');
    execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', 'count=200', 'conv=fsync', 'status=none']);
    execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']);
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 130 });
    const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '200ms' } }).guarding();

    const reader = await node.child('reader').spawn('dd', [`if=${file}`, 'of=/dev/null', 'bs=1M', 'status=none']);
    await reader.ended;
    // a machine that is short of memory drops some of it
    const usage = Number(node.read(isV1 ? 'memory.max_usage_in_bytes' : 'memory.peak'));
    expect(usage).toBeGreaterThan(160 * MIB); // far beyond 128 MiB: by usage alone evictd would have evicted
    await aWhile();
    expect(evictd.journal()).toEqual([expect.objectContaining({ type: 'start' })]); // for the failure message: victims and their numbers
    expect(batch.alive).toBe(true);

    batch.grow(); // memory that cannot be dropped still counts
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
  });
});

test(`the shipped command line is what runs, on ${ON}`, () => {
  expect(execFileSync(process.execPath, [EVICTD, '--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
  process.stdout.write(`end-to-end tests ran on ${ON}\n`);
});
