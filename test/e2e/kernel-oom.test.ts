import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { memoryController, type TestCgroup } from '../support/cgroup.js';
import { Evictd } from './evictd.js';
import { guarding, ON, testNode } from './node.js';
import { until } from './wait.js';

function readable(): boolean {
  try {
    closeSync(openSync('/dev/kmsg', 'r'));
    return true;
  } catch {
    return false;
  }
}

// Not where /dev/kmsg may not be read.
test.runIf(readable())(`an OOM kill of the kernel is in the journal and in the log, with its workload (${ON})`, async () => {
  const node = testNode();
  const batch = node.child('batch');
  const inner = batch.child('inner');
  const other = testNode();
  const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1s' } }).guarding();
  for (const cgroup of [other, batch]) tight(cgroup);
  const elsewhere = await other.spawn('tail', ['/dev/zero']);
  expect(await elsewhere.ended).toBe('SIGKILL');
  const { pid, ended } = await inner.spawn('tail', ['/dev/zero']);
  expect(await ended).toBe('SIGKILL');
  const record = await evictd.recorded('kernel-oom');
  expect(record).toMatchObject({
    node: node.path,
    limit: 'workload',
    constraint: 'memcg',
    limitedCgroup: batch.path,
    cgroup: inner.path,
    workload: { name: 'batch', path: batch.path },
    process: { pid, name: 'tail', uid: process.getuid?.(), oomScoreAdj: 0 },
  });
  expect(record.message).toMatch(
    /^the kernel's OOM killer killed tail \(pid \d+, [\d.]+MiB\) of workload batch: .*\/batch was at its limit$/,
  );
  await until('the log says it', () => evictd.log.some(({ msg, level }) => level === 'warn' && msg === record.message));
  await pause(3_000); // two ticks, in which the counters must not add the same kill
  expect(await evictd.metric('evictd_oom_kills_total{limit="workload"}')).toBe(1);
  expect(await evictd.metric('evictd_oom_kills_total{limit="node"}')).toBe(0);
  expect(await evictd.stop()).toBe(0);
  // Not the process in the other cgroup.
  expect(evictd.journal().filter(({ type }) => type === 'kernel-oom')).toHaveLength(1);
});

/** A memory limit at which the OOM killer kills. */
function tight(cgroup: TestCgroup): TestCgroup {
  cgroup.limit(32n << 20n);
  if (memoryController()?.version === 2) cgroup.write('memory.swap.max', '0');
  return cgroup;
}

async function killedIn(cgroup: TestCgroup, times: number): Promise<void> {
  for (let kill = 0; kill < times; kill += 1) expect(await (await cgroup.spawn('tail', ['/dev/zero'])).ended).toBe('SIGKILL');
}

interface KernelOom {
  readonly limit: string;
  readonly count?: number;
  readonly workload?: { readonly name: string };
  readonly process?: { readonly pid?: number };
}
const kernelOoms = (evictd: Evictd): KernelOom[] => evictd.journal().filter(({ type }) => type === 'kernel-oom') as unknown as KernelOom[];
const killed = (evictd: Evictd, name?: string): number =>
  kernelOoms(evictd)
    .filter(({ workload }) => workload?.name === name)
    .reduce((sum, { count = 1 }) => sum + count, 0);

const HIDDEN = ['unshare', '-m', 'sh', '-c', 'mount --bind /dev/null /dev/kmsg && exec "$@"', 'sh'];

test(`without the kernel log the counters give the number of kills by workload, and the cgroup whose limit was reached (${ON})`, async () => {
  const node = testNode();
  const [a, b] = [tight(node.child('a')), tight(node.child('b'))];
  const inner = b.child('inner');
  await killedIn(a, 1); // before evictd starts, so not counted
  const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1s' }, through: HIDDEN }).guarding();
  await killedIn(a, 2);
  await killedIn(inner, 1);
  await evictd.until('all are in the journal', () => killed(evictd, 'a') + killed(evictd, 'b') >= 3);
  expect([killed(evictd, 'a'), killed(evictd, 'b')]).toEqual([2, 1]);
  const limit = memoryController()?.version === 1 ? 'unknown' : 'workload';
  for (const record of kernelOoms(evictd)) {
    expect(record).toMatchObject({
      limit,
      message: expect.stringMatching(
        /killed (1 process|2 processes) of workload [ab]: its counters say so, the kernel log does not name/,
      ) as string,
    });
    expect(record.process).toBeUndefined();
  }
  expect(await evictd.metric(`evictd_oom_kills_total{limit="${limit}"}`)).toBe(3);
  expect(await evictd.stop()).toBe(0);
  expect([killed(evictd, 'a'), killed(evictd, 'b')]).toEqual([2, 1]);
});

test.runIf(memoryController()?.version === 2)('a kill in a cgroup that is gone is counted in its parent (cgroup v2)', async () => {
  const node = testNode();
  const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1h' }, through: HIDDEN }).guarding();
  const gone = tight(node.child('gone'));
  await killedIn(gone, 1);
  await gone.cleanup();
  expect(await evictd.stop()).toBe(0); // by then at the latest
  expect(killed(evictd, 'gone') + killed(evictd)).toBe(1);
});

test.runIf(memoryController()?.version === 2 && readable())(
  'a workload killed as a whole (memory.oom.group) has one record for each process (cgroup v2)',
  async () => {
    const node = testNode();
    const group = tight(node.child('group'));
    group.write('memory.oom.group', '1');
    const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1s' } }).guarding();
    const idle = [await group.spawn('sleep', ['600']), await group.spawn('sleep', ['600'])];
    const { pid } = await group.spawn('tail', ['/dev/zero']);
    for (const { ended } of idle) expect(await ended).toBe('SIGKILL');
    await pause(3_000);
    expect(await evictd.stop()).toBe(0);
    const pids = kernelOoms(evictd).map(({ process }) => process?.pid);
    expect(pids.toSorted()).toEqual([...idle.map((each) => each.pid), pid].toSorted());
    expect(group.read('memory.events')).toMatch(/oom_group_kill 1/);
  },
);

// The kernel logs the cgroup of at most ten kills in five seconds.
test.runIf(readable())(
  `kills beyond the rate limit of the kernel log are in the journal once each, with their workload (${ON})`,
  async () => {
    const node = testNode();
    const [a, b] = [tight(node.child('a')), tight(node.child('b'))];
    const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1s' } }).guarding();
    const recorded = () => kernelOoms(evictd).reduce((sum, { count = 1 }) => sum + count, 0);
    await killedIn(a, 16);
    // kills in two cgroups between two readings cannot be distinguished
    await evictd.until('those of a are in the journal', () => recorded() >= 16);
    await killedIn(b, 4);
    await evictd.until('all are in the journal', () => recorded() >= 20);
    await pause(3_000); // two ticks, in which no kill is recorded twice
    expect([killed(evictd, 'a'), killed(evictd, 'b')]).toEqual([16, 4]);
    const limits = await Promise.all(
      ['node', 'workload', 'other', 'unknown'].map((limit) => evictd.metric(`evictd_oom_kills_total{limit="${limit}"}`)),
    );
    expect(limits.reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(20);
    expect(await evictd.stop()).toBe(0);
    expect(kernelOoms(evictd).reduce((sum, { count = 1 }) => sum + count, 0)).toBe(20);
  },
);

test('an unreadable kernel log is reported once, at the start, and changes nothing else', async () => {
  const node = testNode();
  const evictd = await new Evictd({ config: guarding(node), through: HIDDEN }).guarding();
  const said = evictd.log.filter(({ code }) => code === 'EVICTD_KERNEL_LOG');
  expect(said).toMatchObject([{ level: 'info' }]);
  expect(said[0]?.msg).toMatch(/^cannot read OOM kills from the kernel log: EPERM/);
  expect(await evictd.stop()).toBe(0);
});

test('evictd logs when the kernel log goes away, with the reason, and when it is back', async () => {
  const node = testNode();
  // Like the kernel log this file can be polled and read, until its cgroup is removed.
  const [first, second] = [node.child('first'), node.child('second')];
  const over = (cgroup: TestCgroup) => `mount --bind ${cgroup.dir}/cgroup.procs /dev/kmsg`;
  const through = ['unshare', '-m', 'sh', '-c', `${over(first)} && exec "$@"`, 'sh'];
  const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1s' }, through }).guarding();
  const said = () => evictd.log.filter(({ code }) => code === 'EVICTD_KERNEL_LOG').map(({ level, msg }) => [level, msg]);
  expect(said()).toEqual([]);
  await first.cleanup();
  const gone = ['warn', expect.stringMatching(/^cannot read OOM kills from the kernel log any more: \/dev\/kmsg: ENODEV /)];
  await until('evictd logs it', () => said().length > 0);
  expect(said()).toEqual([gone]);
  execFileSync('nsenter', [
    '--mount',
    '--target',
    String(evictd.pid),
    'sh',
    '-c',
    readable() ? 'umount /dev/kmsg' : `umount /dev/kmsg && ${over(second)}`,
  ]);
  await until('the log is back', () => said().length > 1);
  expect(said()).toEqual([gone, ['info', expect.stringMatching(/^reading OOM kills from the kernel log again/)]]);
  expect(await evictd.stop()).toBe(0);
});
