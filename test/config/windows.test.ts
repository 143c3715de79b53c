import { describe, expect, test } from 'vitest';
import type { LoadedConfig } from '../../src/config/config.js';
import type { ConfigFlags } from '../../src/config/merge/flags.js';
import { loadConfig, loadWritten } from '../../src/config/load.js';
import type { Platform } from '../../src/core/signal/operating-system.js';
import { whenText } from '../../src/core/threshold/threshold.js';
import { errorOf, issuesOf, load, scratch } from './scratch.js';

const windows: Platform = { os: 'windows', programData: 'D:\\Data' };
const read = (text: string, flags: ConfigFlags = {}, platform: Platform = windows): LoadedConfig => {
  return load({ 'config.yaml': text }, flags, scratch(), platform);
};
const thresholds = ({ config }: LoadedConfig): string[] => config.thresholds.map(whenText).sort();

test("without settings there are the kubelet's thresholds for Windows, and directories below ProgramData", () => {
  const { config } = loadConfig({ platform: windows });
  expect(config.thresholds.map(whenText).sort()).toEqual(['memory.available<500Mi', 'nodefs.available<10%']);
  expect(config).toMatchObject({
    filesystems: { nodefs: 'C:\\', imagefs: undefined },
    stateDirectory: 'D:\\Data\\evictd\\state',
    runtimeDirectory: 'D:\\Data\\evictd\\run',
  });
});

test('with images on a separate drive there is a threshold of 15 % of it, and none of inodes', () => {
  const loaded = read('filesystems: {imagefs: "E:/images/"}');
  expect(loaded.config.filesystems.imagefs).toBe('E:\\images');
  expect(thresholds(loaded)).toEqual(['imagefs.available<15%', 'memory.available<500Mi', 'nodefs.available<10%']);
});

test('a set threshold replaces one default, and keeps the others', () => {
  expect(thresholds(read('evictionHard: {memory.available: 1Gi}'))).toEqual(['memory.available<1Gi', 'nodefs.available<10%']);
});

test('a written configuration is read again for Windows, on any machine', () => {
  const { written, config } = read('workloads: [{job: batch}]');
  expect(loadWritten(JSON.parse(JSON.stringify(written)) as typeof written, {}).config).toEqual(config);
});

test('flags name sources, and together replace those of files', () => {
  const flags = { workloadJob: ['batch'], workloadService: ['web*'], workloadProcess: ['C:\\Apps\\**'] };
  expect(read('workloads: [{job: other}]', flags).config.workloads).toEqual([
    { job: 'batch' },
    { service: 'web*' },
    { process: { path: 'C:\\Apps\\**' } },
  ]);
});

test('a job, a service and programs are sources', () => {
  const { config, notices } = read(
    [
      'workloads:',
      '  - job: Global\\batch',
      '  - service: web*',
      '  - process: {path: C:\\Apps\\**}',
      '  - service: web*',
      '  - process: {path: "**"}',
    ].join('\n'),
  );
  expect(config.workloads).toEqual([
    { job: 'Global\\batch' },
    { service: 'web*' },
    { process: { path: 'C:\\Apps\\**' } },
    { process: { path: '**' } },
  ]);
  expect(notices.map(({ message }) => message).filter((message) => message.startsWith('workloads'))).toEqual([
    'workloads: service web* is named twice',
    'workloads: process ** makes every unprotected process of the machine a workload',
  ]);
});

test.each<[rule: string, text: string, issue: string, message: string, hint: string]>([
  ['a job does not take a pattern', 'workloads: [{job: "batch*"}]', '1:19 EVICTD_CONFIG_VALUE', 'not the name of a job object', 'Global'],
  ['an empty pattern', 'workloads: [{service: ""}]', '1:23 EVICTD_CONFIG_VALUE', 'is empty', 'write a name'],
  ['a text for a map', 'workloads: [{process: a.exe}]', '1:23 EVICTD_CONFIG_TYPE', 'expected a map', 'write { path: a.exe }'],
  ['the path is missing', 'workloads: [{process: {}}]', '1:23 EVICTD_CONFIG_MISSING', 'is missing', 'path: C:\\Apps\\**'],
  [
    'one entry has two sources',
    'workloads: [{job: a, service: b}]',
    '1:31 EVICTD_CONFIG_VALUE',
    'cannot be combined with job',
    'write two entries',
  ],
  ['a mistyped key', 'workloads: [{services: a}]', '1:14 EVICTD_CONFIG_UNKNOWN_KEY', 'unknown key', 'did you mean service'],
])('a wrong source is refused: %s', (_rule, text, issue, message, hint) => {
  const { issues } = errorOf(() => read(text));
  expect(issuesOf(() => read(text))[0]).toBe(`config.yaml:${issue}`);
  expect(issues[0]?.message).toContain(message);
  expect(issues[0]?.hint).toContain(hint);
});

describe('a setting of Linux is an error on Windows, with a hint', () => {
  test.each<[rule: string, text: string, at: string, message: string]>([
    ['inodes', 'evictionHard: {nodefs.inodesFree: 5%}', '1:16', 'nodefs.inodesFree does not exist on Windows: Windows counts no inodes'],
    ['process ids', 'evictionHard: {pid.available: 1k}', '1:16', 'pid.available does not exist on Windows'],
    ['swap', 'evictionHard: {swap.available: 1Gi}', '1:16', 'page files count in the commit limit'],
    ['a minimum reclaim of inodes', 'evictionMinimumReclaim: {imagefs.inodesFree: 1k}', '1:26', 'imagefs.inodesFree does not exist'],
    [
      'pressure, joined',
      "thresholds: [{when: 'memory.available<5% & memory.pressure.full>40%', kind: hard}]",
      '1:15',
      'memory.pressure.full does not exist on Windows',
    ],
    ['a cgroup', 'workloads:\n  - cgroup: /a', '2:5', 'cgroup: exists only on Linux'],
    ['units', 'workloads:\n  - systemd: {slices: [a.slice]}', '2:5', 'systemd: exists only on Linux'],
    ['a container runtime', 'workloads:\n  - cri: {endpoint: unix:///run/a.sock}', '2:5', 'cri: exists only on Linux'],
    ['a node cgroup', 'node: {cgroup: /a}', '1:1', 'node has no effect on Windows'],
    ['allocatable', 'allocatable: {cgroup: /a, capacity: 1Gi}', '1:1', 'allocatable has no effect on Windows'],
    ['marks for the OOM killer', 'oomScoreAdj: qos', '1:1', 'Windows has no OOM killer'],
    ['a window of pressure', 'pressureWindow: 3s', '1:1', 'pressureWindow has no effect on Windows'],
    ['a graceful shutdown', 'shutdownGracePeriod: 30s', '1:1', 'shutdownGracePeriod has no effect on Windows'],
    ['labels', 'rules: [{match: {labels: {a: b}}, priority: 1}]', '1:18', 'only pods have labels'],
    ['directories', 'rules: [{match: {name: a}, directories: [{path: /srv/a}]}]', '1:28', 'rules[0].directories has no effect on Windows'],
  ])('%s', (_rule, text, at, message) => {
    const { issues } = errorOf(() => read(text));
    expect(issuesOf(() => read(text))).toEqual([`config.yaml:${at} EVICTD_CONFIG_PLATFORM`]);
    expect(issues[0]?.message).toContain(message);
    expect(issues[0]?.hint).toBeTruthy();
  });

  test('as a flag, too', () => {
    expect(issuesOf(() => read('', { workloadCgroup: ['/a'], evictionHard: ['pid.available<1k'] }))).toEqual([
      '--workload-cgroup:1 EVICTD_CONFIG_PLATFORM',
      '--eviction-hard:1 EVICTD_CONFIG_PLATFORM',
    ]);
  });

  test.each(['/var', 'C:data', '\\data', 'data'])('as a path that is not a Windows path: %j', (path) => {
    expect(issuesOf(() => read(`stateDirectory: '${path}'`))).toEqual(['config.yaml:1:17 EVICTD_CONFIG_PATH']);
  });

  test.each(['C:\\a\\..\\b', 'C:/../b'])('as a path with ..: %j', (path) => {
    expect(issuesOf(() => read(`stateDirectory: '${path}'`))).toEqual(['config.yaml:1:17 EVICTD_CONFIG_PATH']);
  });

  test('but is accepted at its default', () => {
    expect(() =>
      read('shutdownGracePeriod: 0s\nshutdownGracePeriodByPodPriority: []\noomScoreAdj: off\nreclaim: []\nnode: {}'),
    ).not.toThrow();
  });
});

describe('a setting of Windows is an error on Linux', () => {
  const linux: Platform = { os: 'linux' };

  test.each(['job: a', 'service: a', 'process: {path: a}'])('as a source: %s', (source) => {
    const { issues } = errorOf(() => read(`workloads:\n  - ${source}`, {}, linux));
    expect(issuesOf(() => read(`workloads:\n  - ${source}`, {}, linux))).toEqual(['config.yaml:2:5 EVICTD_CONFIG_PLATFORM']);
    expect(issues[0]?.hint).toContain('cgroup: /workload.slice');
  });

  test.each(['stateDirectory: C:\\a', 'runtimeDirectory: C:\\a'])('as a path: %s', (text) => {
    const { issues } = errorOf(() => read(text, {}, linux));
    expect(issues).toMatchObject([
      { code: 'EVICTD_CONFIG_PATH', message: expect.stringContaining('not an absolute path: "C:\\\\a"') as string },
    ]);
  });

  test('a cgroup is never a Windows path', () => {
    expect(issuesOf(() => read('node: {cgroup: C:\\a}'))).toEqual(['config.yaml:1:16 EVICTD_CONFIG_PATH']);
  });
});
