import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import {
  cgroup2,
  closing,
  hasCgroup2,
  hasMemoryV1,
  makeCgroup,
  makeDirectory,
  members,
  memoryV1,
  runNode,
  startIn,
  until,
} from './kernel.js';

test('a thread that is interrupted by signals all the time reads, writes and waits as if it were not', async () => {
  const mount = hasMemoryV1 ? memoryV1 : cgroup2;
  const cgroup = makeCgroup(mount);
  await startIn(cgroup, '{ sleep 600 & exec sleep 600; }');
  await until('both are there', () => members(cgroup).length === 2);
  const unified = hasCgroup2 ? makeCgroup(cgroup2) : undefined;
  const { status, output } = await runNode(
    `
    const { spawn } = require('node:child_process');
    const cgroup = ${JSON.stringify(cgroup)};
    const unified = ${JSON.stringify(unified ?? null)};
    let signals = 0;
    process.on('SIGUSR1', () => signals++);
    // Some are close together, some leave time enough for the longest call: one that is always interrupted would never end.
    const storm = spawn('perl', ['-e', 'while (kill "USR1", $ARGV[0]) { select undef, undef, undef, rand() * rand() * 0.02 }', String(process.pid)], { stdio: 'ignore' });

    const wrong = new Set();
    const expectSame = (what, got, expected) => { if (JSON.stringify(got) !== JSON.stringify(expected)) wrong.add(what + ': ' + JSON.stringify(got)); };
    const reader = new native.FileReader([
      { path: '/proc/meminfo', format: 'keyed', keys: ['MemTotal', 'MemAvailable'] },
      { path: '/proc/pressure/memory', format: 'pressure' },
      { path: '/proc/loadavg', format: 'loadavg' },
      { path: cgroup + '/cgroup.procs', format: 'occupied' },
    ]);
    const table = new native.CgroupTable([{ path: 'cgroup.procs', format: 'occupied' }, { path: 'notify_on_release', format: 'number' }]);
    table.add(cgroup);
    const handle = new native.CgroupHandle(cgroup);
    const members = handle.processes();
    const [values, errors] = [new Float64Array(2), new Int32Array(1)];
    const tree = new native.CgroupTree(cgroup, 'all');
    const file = fs.openSync(${JSON.stringify(join('/dev/shm', `evictd-test-${String(process.pid)}`))}, 'w+');
    fs.unlinkSync(${JSON.stringify(join('/dev/shm', `evictd-test-${String(process.pid)}`))});
    const pass = () => {
      for (let i = 0; i < 20; i++) {
        reader.read();
        expectSame('reader', [...reader.errors], [0, 0, 0, 0]);
        table.read(values, errors);
        expectSame('table', [values[0], errors[0]], [1, 0]);
      }
      expectSame('signal', handle.signal(0), { found: 2, signalled: 2, errno: 0 });
      expectSame('stop', handle.stop(3), { rounds: 2, settled: true, errno: 0 });
      expectSame('continue', handle.signal(18), { found: 2, signalled: 2, errno: 0 });
      expectSame('processes', handle.processes(), members);
      fs.mkdirSync(cgroup + '/below');
      fs.rmdirSync(cgroup + '/below');
      expectSame('tree', tree.changes()?.list.map(({ kind }) => kind), ['appeared', 'vanished']);
      native.fallocate(file, 0, 2 << 20);
      fs.ftruncateSync(file, 0);
      new native.FileLock(${JSON.stringify(join(makeDirectory(), 'lock'))}).close();
      new native.Pidfd(members[0]).close();
      new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: 1900000, windowUs: 2000000 }, () => {}).close();
      if (unified) {
        const events = new native.MemcgEvents(unified, 'cgroup.events', () => {});
        expectSame('events', events.counters(), { populated: 0, frozen: 0 });
        events.close();
        const frozen = new native.CgroupHandle(unified);
        frozen.freeze(100);
        frozen.thaw();
        frozen.close();
      }
    };
    const end = Date.now() + 1500;
    const again = () => {
      try { pass(); } catch (error) { wrong.add(String(error.stack)); }
      if (wrong.size === 0 && (Date.now() < end || signals < 50)) return setTimeout(again, 1);
      console.log(JSON.stringify([...wrong]));
      storm.kill('SIGKILL');
      process.exit(0);
    };
    again();`,
    60_000,
  );
  expect({ status, output }).toEqual({ status: 0, output: '[]' });
});

test('the addon’s own threads are never interrupted: they take no signal', () => {
  closing(
    new native.Sampler(
      { files: [{ path: '/proc/loadavg', format: 'loadavg' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1000, limits: [] },
      () => undefined,
    ),
  );
  closing(new native.MemoryReaper());
  closing(new native.FilesystemStats('/')).request();
  // All but SIGKILL, SIGSTOP and glibc's own two.
  const blockable = (1n << 64n) - 1n - (1n << 8n) - (1n << 18n) - (1n << 31n) - (1n << 32n);
  const blocked = new Map<string, bigint>();
  for (const task of readdirSync('/proc/self/task')) {
    const status = readFileSync(`/proc/self/task/${task}/status`, 'utf8');
    const name = /^Name:\t(.*)$/m.exec(status)?.[1] ?? '';
    if (name.startsWith('evictd-')) blocked.set(name, BigInt(`0x${/^SigBlk:\t(\w+)$/m.exec(status)?.[1] ?? '0'}`) & blockable);
  }
  expect([...blocked.keys()]).toEqual(expect.arrayContaining(['evictd-waiter', 'evictd-armer', 'evictd-reaper', 'evictd-statfs']));
  for (const [name, mask] of blocked) expect(mask, name).toBe(blockable);
});
