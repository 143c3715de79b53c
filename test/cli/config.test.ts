import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configCommand } from '../../src/cli/config.js';
import { exitCodeOf, formatError } from '../../src/cli/errors.js';
import { scratch } from '../config/scratch.js';

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

/** Runs `evictd config …` on a config.yaml and, where given, one drop-in; paths are shown without the directory. */
async function config(args: readonly string[], yaml: string, dropIn?: string): Promise<Run> {
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
    await configCommand({ io }).parseAsync([...args, '--config', join(directory, 'config.yaml')], { from: 'user' });
  } catch (error) {
    io.stderr(formatError(error));
    out.exit = exitCodeOf(error);
  }
  return out;
}

test('check: one line and the notices', async () => {
  expect(await config(['check', '--log-level', 'warn'], 'workloads: [{cgroup: /a}]\n', 'rules: [{match: {name: x}}]\n')).toEqual({
    stdout:
      'configuration ok: 3 thresholds, 1 workload source, 1 rule (from --log-level, config.d/1.yaml, config.yaml)\n' +
      'warn: config.d/1.yaml:1:9: EVICTD_CONFIG_RULE_EMPTY rules[0] says nothing about what it matches (hint: give it critical, priority or requests)\n',
    stderr: '',
    exit: 0,
  });
});

test('check: nothing set', async () => {
  expect((await config(['check'], '')).stdout).toBe('configuration ok: 3 thresholds, 0 workload sources, 0 rules (defaults only)\n');
});

test('check: every problem as file:line:column: CODE message (hint: …), exit 78', async () => {
  const { stdout, stderr, exit } = await config(
    ['check', '--eviction-hard', 'memory.available<5%,pid<3'],
    'log:\n  level: warning\nevictionSof: {}\n',
  );
  expect({ stdout, exit }).toEqual({ stdout: '', exit: 78 });
  expect(stderr.split('\n')).toEqual([
    'config.yaml:2:10: EVICTD_CONFIG_VALUE log.level: "warning" is not one of debug, info, warn, error (hint: did you mean warn?)',
    'config.yaml:3:1: EVICTD_CONFIG_UNKNOWN_KEY unknown key evictionSof (hint: did you mean evictionSoft?)',
    '--eviction-hard:21: EVICTD_CONFIG_SIGNAL evictionHard: unsupported eviction signal pid (hint: accepted: memory.available, nodefs.available, nodefs.inodesFree, pid.available)',
    '',
  ]);
});

test('check --output json: valid, issues, notices', async () => {
  const { stdout, exit } = await config(['check', '--output', 'json'], 'x: 1\n');
  expect(exit).toBe(78);
  expect(JSON.parse(stdout)).toMatchObject({
    valid: false,
    issues: [{ code: 'EVICTD_CONFIG_UNKNOWN_KEY', message: 'unknown key x', position: { file: 'config.yaml', line: 1, column: 1 } }],
  });
  expect(JSON.parse((await config(['check', '-o', 'json'], '')).stdout)).toEqual({ valid: true, issues: [], notices: [] });
});

test('show: keys, values and where each was set, aligned', async () => {
  const { stdout, stderr } = await config(
    ['show', '--log-level', 'debug'],
    'evictionHard:\n  memory.available: 0%\n',
    'evictionMaxPodGracePeriod: 3\n',
  );
  expect(stdout).toBe(`KEY                               VALUE            SET BY
evictionHard.memory.available     0%               config.yaml:2:21
evictionHard.nodefs.available     10%              default
evictionHard.nodefs.inodesFree    5%               default
evictionPressureTransitionPeriod  5m               default
evictionMaxPodGracePeriod         3                config.d/1.yaml:1:28
monitoringInterval                10s              default
node.cgroup                       -                default
filesystems.nodefs                /                default
workloads                         -                default
rules                             -                default
metrics.listen                    127.0.0.1:9796   default
stateDirectory                    /var/lib/evictd  default
runtimeDirectory                  /run/evictd      default
log.format                        auto             default
log.level                         debug            --log-level:1
`);
  expect(stderr).toContain('warn: config.yaml: EVICTD_CONFIG_DEFAULTS_KEPT');
});

test('show --output json', async () => {
  const { stdout } = await config(['show', '-o', 'json'], 'monitoringInterval: 1s\n');
  expect((JSON.parse(stdout) as { values: unknown[] }).values).toContainEqual({
    key: 'monitoringInterval',
    value: '1s',
    origin: { kind: 'set', file: 'config.yaml', line: 1, column: 21 },
  });
});
