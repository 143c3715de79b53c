import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { native, type KernelLog, type OomRecord } from '../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../support/cgroup.js';
import { after, closing, openDescriptors, runNode, until } from './kernel.js';

const head = (sequence: number, { facility = 0, flags = '-' } = {}) =>
  `${String(facility * 8 + 6)},${String(sequence)},9394221191,${flags};`;
const kills = (...texts: string[]) => native.parseOomRecords(texts.map((text, i) => `${head(100 + i)}${text}\n`));

// Linux 6.18, /dev/kmsg, a process in a cgroup with a limit.
const LINE =
  'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/victim,task=tail,pid=2546,uid=7';
const KILLED =
  'Memory cgroup out of memory: Killed process 2546 (tail) total-vm:26544kB, anon-rss:23680kB, file-rss:1600kB, shmem-rss:4kB, UID:7 pgtables:92kB oom_score_adj:-5';
const RECORD = {
  sequence: 101,
  timeUs: 9394221191,
  constraint: 'memcg',
  oomMemcg: '/a',
  taskMemcg: '/a/victim',
  pid: 2546,
  name: 'tail',
  uid: 7,
  anonRssBytes: 23680 * 1024,
  oomScoreAdj: -5,
};

describe('a kill in the kernel log', () => {
  test('has two lines, with other lines between them', () => {
    expect(kills(LINE, KILLED)).toEqual([RECORD]);
    expect(kills('tail invoked oom-killer: gfp_mask=0x500cc2', LINE, 'usb 1-1: new device', KILLED)).toEqual([
      { ...RECORD, sequence: 103 },
    ]);
  });

  test('of a machine that is out of memory has no limit', () => {
    const line = LINE.replace('oom_memcg=/a', 'global_oom').replace('MEMCG', 'NONE');
    expect(kills(line, KILLED.replace('Memory cgroup out', 'Out'))).toEqual([{ ...RECORD, constraint: 'global', oomMemcg: undefined }]);
  });

  test.each<[rule: string, lines: string[], record: Partial<OomRecord>]>([
    [
      'has only the data of its second line, if the first is missing',
      [KILLED],
      { oomMemcg: undefined, taskMemcg: undefined, uid: 7, pid: 2546 },
    ],
    ['a first line of another process', [LINE.replace('pid=2546', 'pid=1'), KILLED], { taskMemcg: undefined }],
    [
      'the allocating task (vm.oom_kill_allocating_task)',
      [LINE, KILLED.replace('Memory cgroup out of memory', 'Out of memory (oom_kill_allocating_task)')],
      { constraint: 'global', taskMemcg: '/a/victim' },
    ],
    [
      'kernels before 5.10',
      ['Out of memory: Killed process 9 (x), UID 1000, total-vm:8kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB'],
      { pid: 9, name: 'x', uid: 1000, anonRssBytes: 4096 },
    ],
    [
      'a process that chose brackets and numbers for its name',
      [LINE.replace('task=tail', 'task=a) total-vm:1'), KILLED.replace('(tail)', '(a) total-vm:1)')],
      { name: 'a) total-vm:1', anonRssBytes: 23680 * 1024, taskMemcg: '/a/victim' },
    ],
    [
      'a process that chose the words of the line for its name',
      [LINE.replace('task=tail', 'task=,pid=1,uid=0'), KILLED.replace('(tail)', '(,pid=1,uid=0)')],
      { name: ',pid=1,uid=0', taskMemcg: '/a/victim', uid: 7 },
    ],
    [
      'cgroups that have the words of the line in their names',
      [LINE.replace('oom_memcg=/a,task_memcg=/a/victim', 'oom_memcg=/a,task_memcg=/b,task_memcg=/a,task_memcg=/b/c,task=x'), KILLED],
      { oomMemcg: '/a,task_memcg=/b', taskMemcg: '/a,task_memcg=/b/c,task=x' },
    ],
    ['the root at its limit', [LINE.replace('oom_memcg=/a', 'oom_memcg=/'), KILLED], { oomMemcg: '/', taskMemcg: '/a/victim' }],
    [
      'bytes that cannot be printed, and the backslash, are escaped',
      [LINE.replace('/a/victim', '/a/vic\\x5cx20\\xc3\\xa4m'), KILLED],
      { taskMemcg: '/a/vic\\x20äm' },
    ],
  ])('%s', (_rule, lines, record) => {
    expect(kills(...lines)).toMatchObject([record]);
  });

  test('of a group is reported for each process, with its cgroup', () => {
    const second = KILLED.replace('2546 (tail)', '2547 (sleep)');
    const group = 'Tasks in /a/victim are going to be killed due to memory.oom.group set';
    expect(kills(LINE, KILLED, group, KILLED, second)).toMatchObject([
      { pid: 2546, taskMemcg: '/a/victim' },
      { pid: 2546, oomMemcg: '/a', taskMemcg: '/a/victim' },
      { pid: 2547, oomMemcg: '/a', taskMemcg: '/a/victim', name: 'sleep' },
    ]);
    // The next kill is none of the group.
    expect(kills(LINE, KILLED, group, LINE.replace('pid=2546', 'pid=9'), KILLED)).toMatchObject([{}, { taskMemcg: undefined }]);
  });

  test.each<[rule: string, afterMs: number, killed: string, record: Partial<OomRecord>]>([
    ['at once: it belongs to the group', 0, KILLED, { oomMemcg: '/a', taskMemcg: '/a/victim' }],
    ['a second later: it does not belong to the group', 1000, KILLED, { oomMemcg: undefined, taskMemcg: undefined }],
    [
      'for the whole machine: it does not belong to the group',
      0,
      KILLED.replace('Memory cgroup out', 'Out'),
      { constraint: 'global', oomMemcg: undefined, taskMemcg: undefined },
    ],
  ])('without the first line, which the kernel prints ten times in five seconds, after a group, %s', (_rule, afterMs, killed, record) => {
    const group = 'Tasks in /a/victim are going to be killed due to memory.oom.group set';
    const at = (ms: number, text: string, i: number) => `6,${String(i)},${String(9_394_221_191 + ms * 1000)},-;${text}\n`;
    const lines: [number, string][] = [
      [0, LINE],
      [0, KILLED],
      [0, group],
      [afterMs, killed.replace('2546 (tail)', '77 (stranger)')],
    ];
    expect(native.parseOomRecords(lines.map(([ms, text], i) => at(ms, text, i)))).toMatchObject([{}, { pid: 77, ...record }]);
  });

  test('of a group without a line for its first kill does not get the limit of the previous group', () => {
    const group = (name: string) => `Tasks in ${name} are going to be killed due to memory.oom.group set`;
    expect(kills(LINE, KILLED, group('/a/victim'), KILLED, KILLED, group('/b'), KILLED)[3]).toMatchObject({
      oomMemcg: undefined,
      taskMemcg: '/b',
    });
  });

  test('is read in parts, because another processor printed meanwhile', () => {
    const [start, end] = [LINE.slice(0, 60), LINE.slice(60)];
    const records = [`${head(1, { flags: 'c' })}${start}\n`, `${head(2)}usb 1-1: new device\n`, `${head(3, { flags: 'c' })}${end}\n`];
    expect(native.parseOomRecords([...records, `${head(4)}${KILLED}\n`])).toEqual([{ ...RECORD, sequence: 4 }]);
  });

  test('counts only as a record of the kernel itself', () => {
    expect(native.parseOomRecords([`${head(1, { facility: 1 })}${LINE}\n`, `${head(2, { facility: 1 })}${KILLED}\n`])).toEqual([]);
    expect(kills(`usb 1-1: ${KILLED}`)).toEqual([]);
  });

  test('is read without fields and lines of later kernels', () => {
    const records = [LINE, KILLED].map((text, i) => `6,${String(100 + i)},9394221191,-,caller=T1;${text}\n SUBSYSTEM=x\n DEVICE=+x\n`);
    expect(native.parseOomRecords(records)).toEqual([RECORD]);
  });

  test.each([
    'x',
    ';',
    '6',
    '6,1',
    '6,1,2',
    '6,1,2,-',
    '6,1,2,-;',
    `6,99999999999999999999,2,-;${KILLED}`,
    `6,1,2,-;${KILLED.slice(0, 60)}`,
    `6,1,2,-;Out of memory: Killed process (x) total-vm:1kB`,
    `6,1,2,-;Out of memory: Killed process 99999999999999999999 (x) total-vm:1kB`,
    `6,1,2,-;Out of memory: Killed process 1 total-vm:1kB`,
    `6,1,2,-;${KILLED.replace('2546', '0')}`,
    '6,1,2,-;\\x',
  ])('is not read from garbage: %s', (text) => {
    expect(native.parseOomRecords([text])).toEqual([]);
  });

  test.each(['99999999999999999999', '9223372036854775807', '-2', '-9223372036854775807'])('has no memory of %s KiB', (size) => {
    expect(kills(`Out of memory: Killed process 1 (x) total-vm:8kB, anon-rss:${size}kB, UID:-1`)).toMatchObject([
      { anonRssBytes: 0, uid: undefined },
    ]);
  });
});

/** '': /dev/kmsg can be read. */
function refusedBecause(): string {
  try {
    new native.KernelLog(() => undefined).close();
    return '';
  } catch (error) {
    return String(error);
  }
}

const refused = refusedBecause();
if (refused !== '') process.stdout.write(`/dev/kmsg: not tried, ${refused}\n`);

describe.runIf(refused === '' && memoryController() !== undefined)('/dev/kmsg', () => {
  const limited = (): TestCgroup => {
    const cgroup = testCgroup();
    after(() => cgroup.cleanup());
    cgroup.limit(32n << 20n);
    if (memoryController()?.version === 2) cgroup.write('memory.swap.max', '0');
    return cgroup;
  };
  const watch = () => {
    const wakes: { bits: number; detail: number }[] = [];
    return { log: closing(new native.KernelLog((bits, _atNs, detail) => wakes.push({ bits, detail }))), wakes };
  };
  /** Others' kills come, too: tests run side by side. */
  const collect = (log: KernelLog, below: string, into: OomRecord[]) => {
    into.push(...log.records().list.filter(({ taskMemcg }) => taskMemcg?.startsWith(below)));
    return into.length;
  };

  test('a process that the OOM killer kills is reported with its cgroup, and earlier kills are not', async () => {
    const cgroup = limited();
    const first = await cgroup.spawn('tail', ['/dev/zero']);
    expect(await first.ended).toBe('SIGKILL');
    const { log, wakes } = watch();
    const seen: OomRecord[] = [];
    const kill = async () => {
      const victim = await cgroup.spawn('tail', ['/dev/zero']);
      await victim.ended;
      return victim;
    };
    let victim = await kill();
    await until('its line', () => collect(log, cgroup.path, seen) > 0, 3_000).catch(async () => {
      // The kernel prints no cgroup for more than ten kills in 5 s, and other tests have some.
      await pause(5_000);
      victim = await kill();
      await until('the line of another', () => collect(log, cgroup.path, seen) > 0, 30_000);
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      constraint: 'memcg',
      oomMemcg: cgroup.path,
      taskMemcg: cgroup.path,
      pid: victim.pid,
      name: 'tail',
      uid: process.getuid?.(),
      oomScoreAdj: 0,
    });
    expect(seen[0]?.anonRssBytes).toBeGreaterThan(16 << 20);
    expect(wakes.every(({ bits, detail }) => bits === native.WAKE.FIRED && detail === 0)).toBe(true);
  });

  test('has no kill that a process writes into it, and such a line does not wake evictd', async () => {
    const { log, wakes } = watch();
    const pid = 4_000_000 + Math.floor(Math.random() * 100_000);
    writeFileSync('/dev/kmsg', `<6>${KILLED.replace('2546', String(pid))}\n`);
    const cgroup = limited();
    await (
      await cgroup.spawn('tail', ['/dev/zero'])
    ).ended; // comes after it
    const seen: OomRecord[] = [];
    await until(
      'the true one',
      () => {
        seen.push(...log.records().list);
        return seen.some(({ taskMemcg }) => taskMemcg === cgroup.path);
      },
      30_000,
    );
    expect(seen.map((record) => record.pid)).not.toContain(pid);
    expect(wakes.length).toBeGreaterThan(0);
  });

  test('has no descriptor after close(), and no records', () => {
    watch().log.close();
    const before = openDescriptors();
    for (let i = 0; i < 100; i++) {
      const { log } = watch();
      log.close();
      log.close();
      expect([log.live, log.records()]).toEqual([false, { list: [], overruns: 0, dropped: 0 }]);
    }
    expect(openDescriptors()).toBeLessThanOrEqual(before);
    expect(native.watchCount()).toBe(0);
  });

  test('without permission gives an error with the reason', async () => {
    const { status, output } = await runNode(`
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
      try { new native.KernelLog(() => undefined); console.log('read'); }
      catch (error) { console.log(error.syscall, error.path, ['EACCES', 'EPERM'].includes(error.code)); }`);
    expect([status, output]).toEqual([0, 'open /dev/kmsg true']);
  });
});
