import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { daemonName, unitOf, type SeenProcess } from '../../../../src/host/linux/process/daemon-name.js';
import { instanceOf, parseProperties } from '../../../../src/host/linux/facts/service-reader.js';
import { readMemory, swapNames, pressureBuilt, pressureParameter } from '../../../../src/host/linux/facts/memory-reader.js';
import { parseLimits, parseStatus } from '../../../../src/host/linux/facts/process-reader.js';

const fixture = (name: string): string => readFileSync(`test/fixtures/linux/doctor/${name}`, 'utf8');

test.each<[rule: string, holders: readonly number[], facts: ReturnType<typeof instanceOf>]>([
  ['the recorded process holds it', [4711], { kind: 'running', pid: 4711, version: '1.0.0' }],
  ['the file stays behind when its evictd has ended', [], { kind: 'none' }],
  ['a file with the same inode number is locked on another device', [17], { kind: 'none' }],
  ['the holder is in another process namespace', [0], { kind: 'unseen', unseen: expect.stringContaining('namespace') as string }],
])('the evictd that guards the node: %s', (_rule, holders, facts) => {
  expect(instanceOf({ inode: 5, pid: 4711, version: '1.0.0' }, holders)).toEqual(facts);
});

test('/proc/swaps is parsed', () => {
  expect(swapNames('Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n')).toEqual([]);
  expect(swapNames('Filename Type Size Used Priority\n/dev/zram0 partition 1 0 100\n/swap\\040file file 1 0 -2\n')).toEqual([
    '/dev/zram0',
    '/swap\\040file',
  ]);
});

test('facts about memory that cannot be read are not 0', () => {
  const unread = { overcommitMemory: undefined, commitLimitBytes: undefined, swapBytes: undefined, swaps: undefined };
  expect(readMemory(() => undefined)).toMatchObject(unread);
  const files: Readonly<Record<string, string>> = {
    '/proc/meminfo': 'MemTotal:        8 kB\nSwapTotal:             0 kB\nCommitLimit:   4 kB\n',
    '/proc/swaps': 'Filename Type Size Used Priority\n',
    '/proc/sys/vm/overcommit_memory': '0\n',
  };
  const found = { overcommitMemory: 0, totalBytes: 8192n, commitLimitBytes: 4096n, swapBytes: 0n, swaps: [] };
  expect(readMemory((path) => files[path])).toMatchObject(found);
});

test.each<[rule: string, config: string, built: ReturnType<typeof pressureBuilt>]>([
  ['on', 'CONFIG_PSI=y\n# CONFIG_PSI_DEFAULT_DISABLED is not set\n', 'on'],
  ['off by default', 'CONFIG_PSI=y\nCONFIG_PSI_DEFAULT_DISABLED=y\n', 'off by default'],
  ['without', '# CONFIG_PSI is not set\n', 'without'],
])('PSI is compiled in: %s', (_rule, config, built) => {
  expect(pressureBuilt(config)).toBe(built);
});

test.each<[cmdline: string, parameter: string | undefined]>([
  ['console=ttyS0 psi=1 quiet\n', '1'],
  ['psi=0\n', '0'],
  ['psi=1 systemd.show_status=0 psi=0\n', '0'], // the kernel goes by the last: seen with 6.12
  ['xpsi=1 quiet\n', undefined],
])('the kernel parameter psi= of "%s" is parsed', (cmdline, parameter) => {
  expect(pressureParameter(cmdline)).toBe(parameter);
});

test('soft limits of /proc/PID/limits are parsed', () => {
  const limits = fixture('limits');
  expect(parseLimits(limits)).toEqual({ openFiles: 20_000, lockedBytes: 8_388_608 });
  expect(parseLimits(limits.replace(/8388608 {14}8388608/, 'unlimited            unlimited'))).toMatchObject({ lockedBytes: Infinity });
});

test('/proc/PID/status is parsed', () => {
  expect(parseStatus('Name:\tnode\nUid:\t1000\t1001\t1000\t1000\nCapEff:\t000001fffeffffff\n')).toEqual({
    uid: 1001,
    effective: 0x1fffeffffffn,
  });
  expect(parseStatus('')).toMatchObject({ uid: { unseen: 'not in /proc/PID/status' } });
});

test('the value of a property may be empty or have an equals sign', () => {
  expect(parseProperties('LoadState=loaded\nResult=\nExecStart={ path=/a ; }\n')).toEqual({
    LoadState: 'loaded',
    Result: '',
    ExecStart: '{ path=/a ; }',
  });
});

describe('an eviction daemon is recognised', () => {
  test.each<[rule: string, seen: Partial<SeenProcess>, name: ReturnType<typeof daemonName>]>([
    ['by its executable', { executable: 'systemd-oomd' }, 'systemd-oomd'],
    ['whatever it calls itself', { executable: 'earlyoom', comm: 'bash' }, 'earlyoom'],
    ['a name alone is a guess', { executable: 'bash', comm: 'earlyoom' }, undefined],
    ['a script by its name and its interpreter', { executable: 'python3.11', comm: 'nohang' }, 'nohang'],
    ['not by another script', { executable: 'python3.11', comm: 'earlyoom' }, undefined],
    ['k3s is a kubelet, too', { executable: 'k3s', comm: 'k3s-server' }, 'kubelet'],
    ['but k3s kubectl is not one', { executable: 'k3s', comm: 'kubectl' }, undefined],
    ['a kernel thread', { executable: undefined, comm: 'oom_reaper' }, undefined],
    ['by unit and name, without root', { executable: undefined, comm: 'systemd-oomd', unit: 'systemd-oomd.service' }, 'systemd-oomd'],
    ['not by a unit alone, without root', { executable: undefined, comm: 'sh', unit: 'earlyoom.service' }, undefined],
    ['not by the name of a property that every JavaScript object has', { executable: 'constructor' }, undefined],
  ])('%s', (_rule, seen, name) => {
    expect(daemonName({ executable: undefined, comm: '', unit: undefined, ...seen })).toBe(name);
  });

  test.each<[rule: string, procCgroup: string, unit: string | undefined]>([
    ['v2', '0::/system.slice/earlyoom.service\n', 'earlyoom.service'],
    ['a cgroup within its unit', '0::/system.slice/kubelet.service/sub\n', 'kubelet.service'],
    [
      'v1: in the hierarchy of systemd',
      '4:memory:/system.slice\n1:name=systemd:/system.slice/earlyoom.service\n0::/\n',
      'earlyoom.service',
    ],
    ['none', '0::/\n', undefined],
  ])('with its unit: %s', (_rule, procCgroup, unit) => {
    expect(unitOf(procCgroup)).toBe(unit);
  });
});
