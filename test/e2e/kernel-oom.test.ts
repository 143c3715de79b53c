import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
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
test.runIf(readable())(`whom the kernel's OOM killer killed is in the journal and in the log, with its workload (${ON})`, async () => {
  const node = testNode();
  const batch = node.child('batch');
  const inner = batch.child('inner');
  const other = testNode();
  const evictd = await new Evictd({ config: guarding(node) }).guarding();
  for (const cgroup of [other, batch]) {
    cgroup.limit(32n << 20n);
    if (memoryController()?.version === 2) cgroup.write('memory.swap.max', '0');
  }
  const elsewhere = await other.spawn('tail', ['/dev/zero']);
  expect(await elsewhere.ended).toBe('SIGKILL');
  const { pid, ended } = await inner.spawn('tail', ['/dev/zero']);
  expect(await ended).toBe('SIGKILL');
  const record = await evictd.recorded('kernel-oom');
  expect(record).toMatchObject({
    node: node.path,
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
  expect(await evictd.stop()).toBe(0);
  // Not the one that lives elsewhere.
  expect(evictd.journal().filter(({ type }) => type === 'kernel-oom')).toHaveLength(1);
});

test('a kernel log that cannot be read is said once, at the start, and nothing else changes', async () => {
  const node = testNode();
  const hidden = ['unshare', '-m', 'sh', '-c', 'mount --bind /dev/null /dev/kmsg && exec "$@"', 'sh'];
  const evictd = await new Evictd({ config: guarding(node), through: hidden }).guarding();
  const said = evictd.log.filter(({ code }) => code === 'EVICTD_KERNEL_LOG');
  expect(said).toMatchObject([{ level: 'info' }]);
  expect(said[0]?.msg).toMatch(/^whom the kernel's OOM killer kills is not told: EPERM/);
  expect(await evictd.stop()).toBe(0);
});

test('a kernel log that goes away is said, with the reason, and when it is back', async () => {
  const node = testNode();
  // A file that may be waited for and read, as the log may, until its cgroup is removed.
  const [first, second] = [node.child('first'), node.child('second')];
  const over = (cgroup: TestCgroup) => `mount --bind ${cgroup.dir}/cgroup.procs /dev/kmsg`;
  const through = ['unshare', '-m', 'sh', '-c', `${over(first)} && exec "$@"`, 'sh'];
  const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '1s' }, through }).guarding();
  const said = () => evictd.log.filter(({ code }) => code === 'EVICTD_KERNEL_LOG').map(({ level, msg }) => [level, msg]);
  expect(said()).toEqual([]);
  await first.cleanup();
  const gone = ['warn', expect.stringMatching(/^whom the kernel's OOM killer kills is not told any more: \/dev\/kmsg: ENODEV /)];
  await until('it is said', () => said().length > 0);
  expect(said()).toEqual([gone]);
  execFileSync('nsenter', [
    '--mount',
    '--target',
    String(evictd.pid),
    'sh',
    '-c',
    readable() ? 'umount /dev/kmsg' : `umount /dev/kmsg && ${over(second)}`,
  ]);
  await until('it is back', () => said().length > 1);
  expect(said()).toEqual([gone, ['info', expect.stringMatching(/^the kernel log can be read again/)]]);
  expect(await evictd.stop()).toBe(0);
});
