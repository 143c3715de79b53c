import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configCommand } from '../../../src/features/config/command.js';
import { exitCodeOf, formatError } from '../../../src/cli/output/error-text.js';
import { UnavailableError } from '../../../src/errors.js';
import type { MachineFacts, PolicyFacts } from '../../../src/config/lint/machine.js';
import { scratch } from '../../config/scratch.js';
import { Gi, Mi } from '../../core/support.js';
import { machine, present } from '../../config/lint/support.js';

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

const VALID = 'workloads: [{cgroup: /workload.slice}]\n';

/** A machine with one workload that says nothing to a configuration. */
const quiet = (): MachineFacts => machine({ workloads: { present: [present('web')], sources: [] } });

/** Runs `evictd config …` on a config.yaml and, where given, one drop-in; paths are shown without the directory. */
async function config(args: readonly string[], yaml: string, dropIn?: string, facts: () => MachineFacts = quiet): Promise<Run> {
  const directory = scratch();
  writeFileSync(join(directory, 'config.yaml'), yaml, { mode: 0o644 });
  if (dropIn !== undefined) {
    mkdirSync(join(directory, 'config.d'), { mode: 0o755 });
    writeFileSync(join(directory, 'config.d/1.yaml'), dropIn, { mode: 0o644 });
  }
  const out = { stdout: '', stderr: '', exit: 0 };
  const shown = (text: string): string => text.replaceAll(`${directory}/`, '');
  const io = {
    stdout: (text: string) => void (out.stdout += shown(text)),
    stderr: (text: string) => void (out.stderr += shown(text)),
    isTTY: false,
    env: {},
  };
  try {
    const setExitCode = (code: number): void => void (out.exit = code);
    const deps = { io, setExitCode, machine: () => Promise.resolve().then(facts) };
    await configCommand(deps).parseAsync([...args, '--config', join(directory, 'config.yaml')], { from: 'user' });
  } catch (error) {
    io.stderr(formatError(error));
    out.exit = exitCodeOf(error);
  }
  return out;
}

test('check prints a line about the configuration, one about the machine, and the notices', async () => {
  const yaml =
    'workloads: [{cgroup: /workload.slice}]\nevictionHard: {memory.available: 1Gi, nodefs.available: 0%, nodefs.inodesFree: 0%}\n';
  expect(await config(['check', '--log-level', 'warn'], yaml, 'rules: [{match: {path: /a}}]\n')).toEqual({
    stdout:
      'configuration valid: 2 thresholds, 1 workload source, 1 rule (from config.yaml, config.d/1.yaml, --log-level)\n' +
      'checked against this machine: 8GiB of memory, 1 workload\n' +
      'warn: config.d/1.yaml:1:9: EVICTD_CONFIG_RULE_EMPTY rules[0] has no effect: it only has match (hint: add critical, priority or priorityClass, requests, terminationGracePeriodSeconds, directories or tolerations)\n' +
      "warn: config.d/1.yaml:1:24: EVICTD_LINT_RULE_UNREACHABLE rules[0] (path: /a) can never match: its path matches no direct child of /workload.slice (hint: a workload's path is its source and its name: /workload.slice/NAME)\n",
    stderr: '',
    exit: 0,
  });
});

test('check accepts a configuration that sets nothing', async () => {
  expect(await config(['check'], '')).toMatchObject({
    stdout:
      'configuration valid, but evicts nothing: 4 thresholds, 0 workload sources, 0 rules (from config.yaml)\n' +
      'checked against this machine: 8GiB of memory, 1 workload\n' +
      'error: evictd: EVICTD_WORKLOADS_NONE no workload source is configured: evictd exports metrics, but evicts nothing (hint: name one: workloads: [{cgroup: /workload.slice}], or [{systemd: {slices: [batch.slice]}}])\n',
    exit: 0,
  });
});

test('check prints a warning at the position of the value', async () => {
  const reserve = { totalBytes: 8n * Gi, minFreeBytes: 64n * Mi, hugePagesBytes: 2n * Gi, kernelBytes: 0n };
  const dropIn =
    'evictionHard:\n  memory.available: 100Mi\nevictionSoft:\n  memory.available: 50Mi\nevictionSoftGracePeriod: {memory.available: 30s}\n';
  const { stdout } = await config(['check'], 'workloads: [{cgroup: /workload.slice}]\n', dropIn, () => ({ ...quiet(), reserve }));
  expect(stdout).toMatch(/^configuration valid, but has 1 error: 5 thresholds/);
  const lines = stdout.split('\n').map((line) => line.split(' ').slice(0, 3).join(' '));
  expect(lines.filter((line) => line.includes('EVICTD_LINT'))).toEqual([
    'warn: config.d/1.yaml:4:21: EVICTD_LINT_SOFT_NOT_ABOVE_HARD',
    'error: config.d/1.yaml:2:21: EVICTD_LINT_UNREACHABLE',
    'warn: config.d/1.yaml:4:21: EVICTD_LINT_UNREACHABLE',
  ]);
});

test('check reports a setting that belongs to no threshold', async () => {
  const { stdout } = await config(['check', '--eviction-minimum-reclaim', 'pid.available=10'], VALID);
  expect(stdout).toContain(
    'warn: --eviction-minimum-reclaim:15: EVICTD_LINT_WITHOUT_THRESHOLD evictionMinimumReclaim.pid.available has no effect',
  );
});

test('check names the defaults that were kept once', async () => {
  const { stdout } = await config(['check'], 'evictionHard: {memory.available: 1Gi}\nworkloads: [{cgroup: /workload.slice}]\n');
  expect(stdout.match(/DEFAULTS_KEPT/g)).toHaveLength(1);
});

const WARNED = '';

test.each<[rule: string, args: readonly string[], yaml: string, exit: number]>([
  ['warnings are fine', [], WARNED, 0],
  ['--strict: they are a failure', ['--strict'], WARNED, 1],
  ['--strict: none', ['--strict'], VALID, 0],
  ['--strict does not count information as a warning', ['--strict', '--eviction-pressure-transition-period', '1s'], VALID, 0],
  ['--strict: in the form for machines, too', ['--strict', '-o', 'json'], WARNED, 1],
  ['--strict: what is wrong stays 78', ['--strict'], 'x: 1\n', 78],
])('the exit code of check: %s', async (_rule, args, yaml, exit) => {
  expect((await config(['check', ...args], yaml)).exit).toBe(exit);
});

test.each<[rule: string, args: readonly string[], line: string]>([
  [
    '--offline reads no machine',
    ['--offline'],
    'not checked against a machine (--offline): checks of capacities, notifiers and workloads are skipped',
  ],
  [
    'an unreadable machine is reported and no failure',
    ['--strict'],
    'not checked against this machine: checks of capacities, notifiers and workloads are skipped: this is no Linux',
  ],
])('check prints %s', async (_rule, args, line) => {
  const unavailable = (): MachineFacts => {
    throw new UnavailableError('EVICTD_HOST_PLATFORM', 'this is no Linux');
  };
  const { stdout, stderr, exit } = await config(['check', ...args], VALID, undefined, unavailable);
  expect({ second: stdout.split('\n')[1], stderr, exit }).toEqual({ second: line, stderr: '', exit: 0 });
});

test.each<[rule: string, args: readonly string[], said: boolean, exit: number]>([
  ['a warning', [], true, 0],
  ['--strict: a failure', ['--strict'], true, 1],
  ['--offline does not look', ['--strict', '--offline'], false, 0],
])('check reports a missing node as %s', async (_rule, args, said, exit) => {
  const missing = (): MachineFacts => {
    throw new UnavailableError('EVICTD_NODE_MISSING', 'node cgroup /x does not exist', { hint: 'create it first' });
  };
  const ran = await config(['check', ...args], `${VALID}node: {cgroup: /x}\n`, undefined, missing);
  const line = 'error: config.yaml:2:16: EVICTD_NODE_MISSING node cgroup /x does not exist (hint: create it first)\n';
  expect([ran.stdout.includes(line), ran.exit]).toEqual([said, exit]);
});

test('check reports a warning about a copied threshold at the position of the original', async () => {
  const facts = (): MachineFacts => ({ ...quiet(), unreadable: new Map([['allocatableMemory.available', 'EIO']]) });
  const yaml = `${VALID}allocatable: {cgroup: /, capacity: 4Gi}\nevictionHard: {memory.available: 1Gi}\n`;
  expect((await config(['check'], yaml, undefined, facts)).stdout).toContain('config.yaml:3:34: EVICTD_SIGNAL_UNREADABLE');
});

test('check reports a finding about one step of a policy at this step', async () => {
  const yaml = `${VALID}policies:\n  - name: a\n    when: pid.available < 10%\n    then:\n      - notify\n      - run: [/a]\n      - run:\n          command: [/b]\n`;
  const facts = (): MachineFacts => ({ ...quiet(), programs: new Map([['/b', '/b is missing']]) });
  expect((await config(['check'], yaml, undefined, facts)).stdout).toContain('config.yaml:8:9: EVICTD_LINT_POLICY_PROGRAM');
});

test('check reports a finding about the key of the webhook at the webhook', async () => {
  const yaml = `${VALID}notifications:\n  webhook: {url: 'http://127.0.0.1/', secretFile: /a}\n`;
  const facts = (): MachineFacts => ({ ...quiet(), secretFile: { message: '/a is empty', hint: 'fill it' } });
  expect((await config(['check'], yaml, undefined, facts)).stdout).toContain('config.yaml:3:12: EVICTD_LINT_SECRET_FILE /a is empty');
});

test('check --offline reports findings that hold on every machine', async () => {
  const yaml = `${VALID}evictionSoft: {memory.available: 50Mi}\nevictionSoftGracePeriod: {memory.available: 30s}\n`;
  expect((await config(['check', '--offline'], yaml)).stdout).toContain('EVICTD_LINT_SOFT_NOT_ABOVE_HARD');
});

test('check prints every problem as file:line:column: CODE message (hint: …), and exits with 78', async () => {
  const { stdout, stderr, exit } = await config(
    ['check', '--eviction-hard', 'memory.available<5%,pid<3'],
    'log:\n  level: warning\nevictionSof: {}\n',
  );
  expect({ stdout, exit }).toEqual({ stdout: '', exit: 78 });
  expect(stderr.split('\n')).toEqual([
    'config.yaml:2:10: EVICTD_CONFIG_VALUE log.level: "warning" is not one of debug, info, warn, error (hint: did you mean warn?)',
    'config.yaml:3:1: EVICTD_CONFIG_UNKNOWN_KEY unknown key evictionSof (hint: did you mean evictionSoft?)',
    '--eviction-hard:21: EVICTD_CONFIG_SIGNAL evictionHard: unsupported eviction signal pid (hint: accepted: memory.available, allocatableMemory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, containerfs.available, containerfs.inodesFree, pid.available, memory.kernelAvailable, swap.available)',
    '',
  ]);
});

test('check --output json has valid, issues and notices', async () => {
  const { stdout, stderr, exit } = await config(['check', '--output', 'json'], 'x: 1\n');
  expect({ stderr, exit }).toEqual({ stderr: '', exit: 78 });
  expect(JSON.parse(stdout)).toMatchObject({
    valid: false,
    issues: [{ code: 'EVICTD_CONFIG_UNKNOWN_KEY', message: 'unknown key x', position: { file: 'config.yaml', line: 1, column: 1 } }],
  });
  expect(JSON.parse((await config(['check', '-o', 'json', '--offline'], VALID)).stdout)).toEqual({
    valid: true,
    issues: [],
    notices: [],
    machine: { kind: 'offline' },
  });
});

test('check --output json has warnings as notices, with facts for programs', async () => {
  const facts = (): MachineFacts => ({ ...quiet(), polled: new Map([['memory.available', 'sampler: EACCES']]) });
  expect(JSON.parse((await config(['check', '-o', 'json'], VALID, undefined, facts)).stdout)).toMatchObject({
    valid: true,
    notices: [{ level: 'warn', code: 'EVICTD_LINT_OUTRUN' }],
    machine: {
      kind: 'read',
      capacities: { 'memory.available': 8 * 1024 ** 3, 'pid.available': 1000 },
      reserve: { totalBytes: 8 * 1024 ** 3, minFreeBytes: 0, hugePagesBytes: 0, kernelBytes: 0 },
      polled: { 'memory.available': 'sampler: EACCES' },
      workloads: 1,
    },
  });
});

test('show prints keys, values and positions, aligned', async () => {
  const { stdout, stderr } = await config(
    ['show', '--log-level', 'debug'],
    'evictionHard:\n  memory.available: 0%\n',
    'evictionMaxPodGracePeriod: 3\n',
  );
  const [shown, profile] = stdout.split('compatibility ');
  expect(shown).toBe(`KEY                               VALUE            SET BY
evictionHard.memory.available     0%               config.yaml:2:21
evictionHard.nodefs.available     10%              default
evictionHard.nodefs.inodesFree    5%               default
thresholds                        -                default
pressureWindow                    2s               default
evictionPressureTransitionPeriod  5m               default
evictionMaxPodGracePeriod         3                config.d/1.yaml:1:28
evictionBudget.max                5                default
evictionBudget.window             10m              default
evictionBudget.bands              -                default
shutdownGracePeriod               0s               default
shutdownGracePeriodCriticalPods   0s               default
shutdownGracePeriodByPodPriority  -                default
monitoringInterval                10s              default
standingOrder.after               500us            default
safeMode.crashes                  5                default
safeMode.within                   10m              default
pause.max                         4h               default
node.cgroup                       -                default
filesystems.nodefs                /                default
filesystems.imagefs               -                default
filesystems.containerfs           -                default
workloads                         -                default
priorityClasses                   -                default
rules                             -                default
taints                            -                default
disruptionBudgets                 -                default
reclaim                           -                default
policies                          -                default
hooks.preEvict                    -                default
hooks.prekill                     -                default
hooks.postEvict                   -                default
notifications.webhook             -                default
notifications.desktop             -                default
notifications.killedSignal        -                default
notifications.oomdBusName         -                default
notifications.kernelLog           -                default
notifications.xattrs              -                default
kubernetes                        -                default
oomScoreAdj                       off              default
metrics.listen                    127.0.0.1:9796   default
metrics.tokenFile                 -                default
controlSocket.group               -                default
journal.maxSize                   4Mi              default
journal.maxFiles                  5                default
stateDirectory                    /var/lib/evictd  default
runtimeDirectory                  /run/evictd      default
log.format                        auto             default
log.level                         debug            --log-level:1
`);
  expect(profile).toMatch(/^ +evictd +default\n(departures\.[a-z-]+ +true +default\n)+allocatable\.cgroup +- +default\n/);
  expect(stderr).toContain('info: config.yaml: EVICTD_CONFIG_DEFAULTS_KEPT');
});

test('show prints copied thresholds, and defaults that the profile decides', async () => {
  const { stdout } = await config(['show'], 'compatibility: kubelet\n');
  expect(stdout).toMatch(/^evictionHard\.allocatableMemory\.available +100Mi +copied from evictionHard\.memory\.available$/m);
  expect(stdout).toMatch(/^evictionMaxPodGracePeriod +0 +compatibility: kubelet$/m);
  expect(stdout).toMatch(/^mergeDefaultEvictionSettings +false +compatibility: kubelet$/m);
  const { values } = JSON.parse((await config(['show', '-o', 'json'], 'compatibility: kubelet\n')).stdout) as { values: unknown[] };
  expect(values).toContainEqual({
    key: 'evictionHard.allocatableMemory.available',
    value: '100Mi',
    origin: { kind: 'copied', from: 'evictionHard.memory.available' },
  });
  expect(values).toContainEqual({
    key: 'departures.hard-grace',
    value: false,
    origin: { kind: 'follows', key: 'compatibility', value: 'kubelet', position: { file: 'config.yaml', line: 1, column: 16 } },
  });
});

test('show --output json prints the same as JSON', async () => {
  const { stdout } = await config(['show', '-o', 'json'], 'monitoringInterval: 1s\n');
  expect((JSON.parse(stdout) as { values: unknown[] }).values).toContainEqual({
    key: 'monitoringInterval',
    value: '1s',
    origin: { kind: 'set', file: 'config.yaml', line: 1, column: 21 },
  });
});

test('policies are counted, checked, and shown with the position of every key', async () => {
  const yaml =
    'policies:\n  - name: a\n    scope: {cgroup: /a/**}\n    when: age > 1h & memory.swap > 1Mi\n    then: [notify, {freeze: {for: 5s}}]\n';
  const policies: PolicyFacts = {
    fixed: { node: new Map(), cgroup: new Map([['memory.swap', { is: 'zero', why: 'there is no swap' }]]) },
    fixedIn: new Map(),
    matches: new Map([['/a/**', 0]]),
    cgroupVersion: 2,
  };
  const { stdout } = await config(['check'], yaml, undefined, () => machine({ policies }));
  expect(stdout.split('\n').filter((line) => line.includes('polic')).map((line) => line.replace(/ \(hint.*/, ''))).toEqual([
    'configuration valid, but evicts nothing: 4 thresholds, 0 workload sources, 0 rules, 1 policy (from config.yaml)',
    'warn: config.yaml:4:22: EVICTD_LINT_POLICY_NEVER policies[0].when: a never acts here: memory.swap: there is no swap',
    'warn: config.yaml:3:21: EVICTD_LINT_POLICY_SCOPE policies[0].scope.cgroup: a watches nothing now: no cgroup matches /a/**',
    'warn: config.yaml:5:11: EVICTD_LINT_POLICY_WORKLOADS policies[0].then: a: freeze has no workload to act on: no source is configured',
  ]); // oxfmt-ignore
  const shown = await config(['show'], yaml);
  const rows = shown.stdout.split('\n').filter((line) => line.startsWith('policies')).map((line) => line.split(/ {2,}/)); // oxfmt-ignore
  expect(rows).toEqual([
    ['policies[0].name', 'a', 'config.yaml:2:11'],
    ['policies[0].scope.cgroup', '/a/**', 'config.yaml:3:21'],
    ['policies[0].when', 'age > 1h & memory.swap > 1Mi', 'config.yaml:4:11'],
    ['policies[0].then', '["notify",{"freeze":{"for":"5s"}}]', 'config.yaml:5:11'],
  ]);
});
