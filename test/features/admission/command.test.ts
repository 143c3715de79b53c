import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { conditionsFileOf } from '../../../src/features/admission/open.js';
import type { Taint } from '../../../src/core/disruption/taint.js';
import type { ConditionType } from '../../../src/core/signal/signal.js';
import { conditionsText } from '../../../src/features/admission/published-conditions.js';
import { evictd, type Answer } from '../../cli/support.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const SECOND = 1_000_000_000n;
const SINCE = '2026-11-21T17:00:00.000Z';

let directory: string;
let config: string;

beforeEach(() => {
  directory = temporaryDirectory();
  config = join(directory, 'config.yaml');
  configure({
    rules: [
      { match: { name: 'postgres*' }, critical: true },
      { match: { name: 'web-*' }, requests: { memory: '64Mi' } },
    ],
  });
});

function configure(settings: object): void {
  const whole = { apiVersion: 'evictd.dev/v1', kind: 'EvictdConfiguration', runtimeDirectory: directory, ...settings };
  writeFileSync(config, JSON.stringify(whole), { mode: 0o600 });
}

/** As the evictd that guards the node would have written it `ageNs` ago. */
function published(
  conditions: readonly ConditionType[],
  { cgroup = undefined as string | undefined, ageNs = 0n, shutdown = false, taints = [] as readonly Taint[] } = {},
): void {
  const { path, node, bootId } = conditionsFileOf({ node: { cgroup }, runtimeDirectory: directory });
  const text = conditionsText({
    node,
    pid: 42,
    bootId,
    updatedNs: process.hrtime.bigint() - ageNs,
    updated: SINCE,
    monitoringIntervalNs: 10n * SECOND,
    conditions: conditions.map((type) => ({ type, since: SINCE })),
    ...(taints.length > 0 && { taints }),
    ...(shutdown && { shutdown: { since: SINCE } }),
  });
  writeFileSync(path, text);
}

/** The whole command line, with the configuration of this test. */
async function admit(...args: readonly string[]): Promise<Answer> {
  return evictd(['admit', '--config', config, ...args]);
}

function podFile(pod: unknown): string {
  const file = join(directory, 'pod.json');
  writeFileSync(file, typeof pod === 'string' ? pod : JSON.stringify(pod));
  return file;
}

const pod = (spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0' },
  spec: { containers: [{ name: 'a' }], ...spec },
});

describe('evictd admit while the machine shuts down', () => {
  test.each<[rule: string, args: readonly string[], kind: string]>([
    ['any workload', [], 'a BestEffort workload'],
    ['a critical workload, too', ['--name', 'postgres-1'], 'a critical workload'],
  ])('refuses %s', async (_rule, args, kind) => {
    published(['MemoryPressure'], { shutdown: true });
    const { exit, stdout } = await admit(...args);
    const said = 'refused: NodeShutdown: Pod was rejected as the node is shutting down.';
    expect([exit, stdout]).toEqual([1, `${said} (${kind}; shutting down since ${SINCE})\n`]);
    const { stdout: json } = await admit(...args, '-o', 'json');
    expect(JSON.parse(json)).toMatchObject({ admit: false, known: true, reason: 'NodeShutdown', shutdown: { since: SINCE } });
  });
});

describe('the answer of evictd admit', () => {
  test.each<[rule: string, conditions: readonly ConditionType[], args: readonly string[], exit: number, stdout: string]>([
    ['without a condition', [], [], 0, 'admitted: the node has no condition\n'],
    [
      'best effort, by default',
      ['MemoryPressure'],
      [],
      1,
      `refused: Evicted: The node had condition: [MemoryPressure]. (a BestEffort workload; MemoryPressure since ${SINCE})\n`,
    ],
    [
      'critical by rule',
      ['DiskPressure'],
      ['--name', 'postgres-1'],
      0,
      'admitted: a critical workload, although the node has DiskPressure\n',
    ],
    [
      'a request by rule',
      ['MemoryPressure'],
      ['--name', 'web-1'],
      0,
      'admitted: a Burstable workload, although the node has MemoryPressure\n',
    ],
    [
      'a class by option',
      ['MemoryPressure'],
      ['--qos', 'guaranteed'],
      0,
      'admitted: a Guaranteed workload, although the node has MemoryPressure\n',
    ],
    [
      'guaranteed does not help against a full disk',
      ['DiskPressure', 'PIDPressure'],
      ['--qos', 'guaranteed'],
      1,
      `refused: Evicted: The node had condition: [DiskPressure PIDPressure]. (a Guaranteed workload; DiskPressure since ${SINCE}, PIDPressure since ${SINCE})\n`,
    ],
    ['--fail-closed changes nothing about what is known', [], ['--fail-closed'], 0, 'admitted: the node has no condition\n'],
  ])('%s', async (_rule, conditions, args, exit, stdout) => {
    published(conditions);
    expect(await admit(...args)).toEqual({ exit, stdout, stderr: '' });
  });

  test.each<[rule: string, spec: object, exit: number]>([
    ['a best-effort pod', {}, 1],
    ['a pod with a request', { containers: [{ name: 'a', resources: { requests: { cpu: '1m' } } }] }, 0],
    ['a pod that tolerates it', { tolerations: [{ operator: 'Exists' }] }, 0],
    ['a critical pod', { priority: 2_000_000_000 }, 0],
  ])('%s', async (_rule, spec, exit) => {
    published(['MemoryPressure']);
    expect(await admit('--pod', podFile(pod(spec)))).toMatchObject({ exit, stderr: '' });
  });

  test('names a taint', async () => {
    const taint = { key: 'maintenance', value: 'yes', effect: 'NoSchedule' } as const;
    published([], { taints: [taint] });
    const stdout = 'refused: TaintToleration: The node had untolerated taint: maintenance=yes:NoSchedule (a BestEffort workload)\n';
    expect(await admit('--name', 'batch-1')).toEqual({ exit: 1, stdout, stderr: '' });
    expect(JSON.parse((await admit('-o', 'json')).stdout)).toMatchObject({ admit: false, reason: 'TaintToleration', taints: [taint] });
    expect(await admit('--name', 'postgres-1')).toMatchObject({ exit: 0 });

    const avoided = { ...taint, effect: 'PreferNoSchedule' } as const;
    published([], { taints: [avoided] });
    const warned = 'admitted: although the node has maintenance=yes:PreferNoSchedule, which it does not tolerate\n';
    expect(await admit('--name', 'batch-1')).toEqual({ exit: 0, stdout: warned, stderr: '' });
    expect(JSON.parse((await admit('-o', 'json')).stdout)).toMatchObject({ admit: true, avoids: [avoided] });

    configure({ rules: [{ match: {}, tolerations: [{ key: 'maintenance', operator: 'Exists' }] }] });
    published([], { taints: [taint, avoided] });
    expect(await admit('--name', 'batch-1')).toEqual({ exit: 0, stdout: 'admitted: the node has no condition\n', stderr: '' });
  });

  test('is about the configured node', async () => {
    published(['MemoryPressure'], { cgroup: '/a.slice' });
    published([], { cgroup: '/b.slice' });
    published([]);
    expect(await admit('--node-cgroup', '/a.slice')).toMatchObject({ exit: 1 });
    expect(await admit('--node-cgroup', '/b.slice')).toMatchObject({ exit: 0, stderr: '' });
    configure({ node: { cgroup: '/a.slice/' } });
    expect(await admit()).toMatchObject({ exit: 1 });
  });

  test('is printed as JSON', async () => {
    published(['MemoryPressure']);
    const { stdout, exit } = await admit('-o', 'json');
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      admit: false,
      known: true,
      reason: 'Evicted',
      message: 'The node had condition: [MemoryPressure]. ',
      conditions: [{ type: 'MemoryPressure', since: SINCE }],
      workload: { critical: false, qosClass: 'BestEffort' },
      problems: [],
    });
    expect(JSON.parse((await admit('-o', 'json', '--qos', 'burstable')).stdout)).toMatchObject({ admit: true, known: true });
  });
});

describe('evictd admit without known conditions permits the workload with a warning; with --fail-closed it refuses', () => {
  const bad = (settings: object) => (): readonly string[] => {
    configure(settings);
    return [];
  };
  test.each<[rule: string, prepare: () => readonly string[], code: string]>([
    ['no evictd has published conditions', () => [], 'EVICTD_CONDITIONS_ABSENT'],
    ['evictd is gone', () => (published(['MemoryPressure'], { ageNs: 31n * SECOND }), []), 'EVICTD_CONDITIONS_STALE'],
    ['garbage', () => (writeFileSync(join(directory, 'machine.conditions.json'), '{'), []), 'EVICTD_CONDITIONS_MALFORMED'],
    ['a runtime directory that is a file', () => ['--runtime-directory', config], 'EVICTD_CONDITIONS_UNREADABLE'],
    ['a wrong configuration', bad({ rulez: [] }), 'EVICTD_CONFIG_UNKNOWN_KEY'],
    ['a world-writable configuration', () => (chmodSync(config, 0o666), []), 'EVICTD_CONFIG_WRITABLE'],
    ['a configuration that is not there', () => ['--config', join(directory, 'nope')], 'EVICTD_CONFIG_FILE_MISSING'],
    ['an unknown option', () => ['--foo'], 'EVICTD_USAGE'],
    ['an option of --preempt without it', () => ['--dry-run'], 'EVICTD_USAGE'],
    ['an option without its value', () => ['--name'], 'EVICTD_USAGE'],
    ['a class that does not exist', () => ['--qos', 'platinum'], 'EVICTD_USAGE'],
    ['an argument too many', () => ['batch-1'], 'EVICTD_USAGE'],
    ['a pod and a name', () => ['--pod', podFile(pod()), '--name', 'x'], 'EVICTD_USAGE'],
    ['a format that does not exist', () => ['-o', 'yaml'], 'EVICTD_USAGE'],
    ['the name is missing', () => ['--name', ''], 'EVICTD_USAGE'],
    ['a path for a name', () => ['--name', '/db/'], 'EVICTD_USAGE'],
    ['a slash behind a name', () => ['--name', 'db/'], 'EVICTD_USAGE'],
    ['a name that leads out', () => ['--name', 'a/../db'], 'EVICTD_USAGE'],
    ['the path is missing', () => ['--path', ''], 'EVICTD_USAGE'],
    ['a path with the mount in it', () => ['--path', '/sys/fs/cgroup/batch.slice/a'], 'EVICTD_USAGE'],
    ['the pod file does not exist', () => ['--pod', join(directory, 'nope')], 'EVICTD_KUBERNETES_FILE'],
    ['a directory for a pod file', () => ['--pod', directory], 'EVICTD_KUBERNETES_FILE'],
    ['an empty pod file', () => ['--pod', podFile('')], 'EVICTD_KUBERNETES_FILE'],
    ['a pod file that never ends', () => ['--pod', '/dev/zero'], 'EVICTD_KUBERNETES_FILE'],
    ['a pod in YAML', () => ['--pod', podFile('kind: Pod\n')], 'EVICTD_KUBERNETES_FILE'],
    ['a list of pods', () => ['--pod', podFile({ kind: 'List', items: [pod()] })], 'EVICTD_KUBERNETES_DOCUMENT'],
    ['a pod that the API would not take', () => ['--pod', podFile(pod({ priority: 'high' }))], 'EVICTD_KUBERNETES_DOCUMENT'],
  ])('%s', async (_rule, prepare, code) => {
    const args = prepare();
    const open = await admit(...args);
    expect(open).toMatchObject({ exit: 0, stdout: `admitted: the node conditions are unknown (${code})\n` });
    expect(open.stderr).toContain(code);
    expect(open.stderr).toMatch(/\nevictd: warning: admitted: with --fail-closed, evictd admit would refuse the workload\n$/);

    // Also behind what is wrong, which ends the reading of the command line.
    for (const closed of [await admit('--fail-closed', ...args), await admit(...args, '--fail-closed')]) {
      expect(closed).toMatchObject({ exit: 1, stdout: `refused: the node conditions are unknown (${code})\n` });
      expect(closed.stderr).toMatch(/\nevictd: warning: refused: --fail-closed is set\n$/);
    }
  });

  test('and prints JSON', async () => {
    configure({ rulez: [], nodes: {} });
    const { stdout, exit } = await admit('-o', 'json');
    expect(exit).toBe(0);
    const report = JSON.parse(stdout) as { problems: unknown[] };
    expect(report).toMatchObject({ admit: true, known: false, conditions: [] });
    expect(report.problems).toHaveLength(2);
    expect(report.problems[0]).toMatchObject({ code: 'EVICTD_CONFIG_UNKNOWN_KEY', position: expect.stringContaining(config) as string });
  });

  test('and prints JSON for a wrong command line, if -o json comes before the error', async () => {
    const { stdout } = await admit('-o', 'json', '--foo');
    expect(JSON.parse(stdout)).toMatchObject({ admit: true, known: false, problems: [{ code: 'EVICTD_USAGE' }] });
  });
});

describe('evictd admit permits a critical workload whatever the conditions, so it does not need them', () => {
  const system = { containers: [{ name: 'a' }], priority: 2_000_000_000 };
  test.each<[rule: string, args: () => readonly string[], code: string]>([
    ['critical by a rule', () => ['--name', 'postgres-1'], 'EVICTD_CONDITIONS_ABSENT'],
    ['critical by its class', () => ['--priority-class', 'system-node-critical'], 'EVICTD_CONDITIONS_ABSENT'],
    ['a pod', () => ['--pod', podFile(pod(system))], 'EVICTD_CONDITIONS_ABSENT'],
    [
      'a pod, where the configuration is wrong',
      () => (configure({ rulez: [] }), ['--pod', podFile(pod(system))]),
      'EVICTD_CONFIG_UNKNOWN_KEY',
    ],
  ])('%s', async (_rule, prepare, code) => {
    const args = prepare();
    for (const given of [args, [...args, '--fail-closed']]) {
      const { exit, stdout, stderr } = await admit(...given);
      expect({ exit, stdout }).toEqual({
        exit: 0,
        stdout: `admitted: a critical workload; the node conditions are unknown (${code})\n`,
      });
      expect(stderr).toContain(code);
      expect(stderr).toMatch(/\nevictd: warning: admitted: a critical workload may always start\n$/);
    }
    const { stdout } = await admit(...args, '--fail-closed', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ admit: true, known: false, workload: { critical: true }, problems: [{ code }] });
  });

  test('but refuses a workload that may not be critical', async () => {
    expect(await admit('--name', 'postgres-1', '--fail-closed', '--foo')).toMatchObject({ exit: 1 });
  });
});

test.each(['--fail', '--fail-close', '--fail-closd', '--fail-closed=yes', '--failclosed'])(
  'the option %s is treated as --fail-closed',
  async (option) => {
    published([]);
    const { exit, stderr } = await admit(option);
    expect(exit).toBe(1);
    expect(stderr).toMatch(/EVICTD_USAGE: [^]*warning: refused: --fail-closed is set\n$/);
  },
);

test.each<[args: readonly string[], said: string]>([
  [['--path', 'db'], '--path is not an absolute path: "db"\n  hint: write an absolute path: /db'],
  [['--path', '/a/../b'], '--path contains ..: "/a/../b"\n'],
  [['--path', '/sys/fs/cgroup/a'], '--path includes the mount of the controller: /sys/fs/cgroup/a\n  hint: write the path below it: /a'],
  [['--name', '/db/'], '--name is not the name of a workload: "/db/"\n  hint: use the name below its source'],
])('the error for %j is a sentence', async (args, said) => {
  expect((await admit(...args)).stderr).toContain(`evictd: EVICTD_USAGE: ${said}`);
});

test.each<[args: readonly string[], said: string]>([
  [['--requests', 'cpu=1'], 'EVICTD_USAGE: --requests: is not memory=AMOUNT: "cpu=1"\n'],
  [['--requests', 'memory=1GB'], 'EVICTD_USAGE: --requests: quantities must match'],
  [['--timeout', '60'], 'EVICTD_USAGE: --timeout: '],
  [[], 'EVICTD_PREEMPT_NO_INSTANCE: no evictd guards this node'],
])('--preempt %j: whether the request fits is unknown', async (args, said) => {
  published([]);
  const { exit, stdout, stderr } = await admit('--preempt', ...args);
  expect([exit, stdout]).toEqual([0, `admitted: whether its request fits is unknown (${said.split(':')[0] ?? ''})\n`]);
  expect(stderr).toContain(said);
});

test('a system class is critical for conditions and taints, too', async () => {
  published(['DiskPressure']);
  expect(await admit('--priority-class', 'system-node-critical')).toMatchObject({
    exit: 0,
    stdout: 'admitted: a critical workload, although the node has DiskPressure\n',
  });
  configure({ priorityClasses: [{ name: 'high', value: 1_000_000_000 }] });
  expect(await admit('--priority-class', 'high')).toMatchObject({ exit: 1 });
  const { exit, stdout, stderr } = await admit('--priority-class', 'system-node-critcal');
  expect([exit, stdout]).toEqual([0, 'admitted: whether it is critical is unknown (EVICTD_USAGE)\n']);
  expect(stderr).toContain('--priority-class: there is no priority class "system-node-critcal"');
});

test('--preempt does not change a refusal', async () => {
  published(['DiskPressure']);
  expect(await admit('--preempt')).toMatchObject({ exit: 1, stdout: expect.stringMatching(/^refused: Evicted: /) as string });
});

test('a name may have several parts', async () => {
  published(['MemoryPressure']);
  expect(await admit('--name', 'web-1/worker')).toMatchObject({ stderr: '' });
});

test('evictd admit --help prints the help', async () => {
  const { stdout, stderr, exit } = await evictd(['admit', '--help']);
  expect(stdout).toMatch(/^Usage: evictd admit \[options\]\n/);
  expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
});
