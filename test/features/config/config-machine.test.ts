import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { configCommand } from '../../../src/features/config/command.js';
import { filesystemsRead } from '../../../src/node/reading.js';
import { readMachineFacts } from '../../../src/node/machine-facts.js';
import type { MachineFacts } from '../../../src/config/lint/machine.js';
import { load, scratch } from '../../config/scratch.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { aPod } from '../../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE } from '../../support/kubernetes/api-server.js';

/**
 * A source with three workloads: a process in each of `web` and `batch-1`, none in `idle`; and a source with only
 * `idle`.
 */
let source: TestCgroup;
let deserted: TestCgroup;

beforeAll(async () => {
  source = testCgroup();
  deserted = testCgroup();
  for (const name of ['web', 'batch-1']) await source.child(name).spawn('sleep', ['300']);
  source.child('idle');
  deserted.child('idle');
});

afterAll(async () => {
  await source.cleanup();
  await deserted.cleanup();
});

/**
 * Codes and messages about workloads and rules, `evictd config check` on this machine; SOURCE and DESERTED stand for
 * the cgroups.
 */
async function check(yaml: string): Promise<string[]> {
  const file = join(scratch(), 'config.yaml');
  const names = [source.path, deserted.path] as const;
  writeFileSync(file, `${yaml.replaceAll('SOURCE', names[0]).replaceAll('DESERTED', names[1])}\n`, { mode: 0o644 });
  let stdout = '';
  const io = { stdout: (text: string) => void (stdout += text), stderr: () => undefined, isTTY: false, env: {} };
  const deps = {
    io,
    setExitCode: () => undefined,
    machine: (loaded: Parameters<typeof readMachineFacts>[0]) => readMachineFacts(loaded, filesystemsRead),
  };
  await configCommand(deps).parseAsync(['check', '-o', 'json', '--config', file], { from: 'user' });
  const { notices, machine } = JSON.parse(stdout) as { notices: { code: string; message: string }[]; machine: { kind: string } };
  expect(machine.kind).toBe('read');
  return notices
    .filter(({ code }) => /TOKEN|SECRET|CONTROL|RULE|CRITICAL|EVICTABLE|SOURCE|NONE/.test(code))
    .map(({ code, message }) => `${code} ${message}`.replaceAll(names[0], 'SOURCE').replaceAll(names[1], 'DESERTED'));
}

describe('evictd config check with existing cgroups', () => {
  test.each<[rule: string, yaml: string, said: readonly (string | RegExp)[]]>([
    ['there is no finding', 'workloads: [{cgroup: SOURCE}]\nrules: [{match: {name: web}, critical: true}]', []],
    [
      'the source does not exist',
      'workloads: [{cgroup: SOURCE/nothing}]',
      [
        /^EVICTD_SOURCE_MISSING workload source SOURCE\/nothing does not exist/,
        /^EVICTD_LINT_NOTHING_EVICTABLE .* no workload exists in SOURCE\/nothing now$/,
      ],
    ],
    [
      'the source is empty',
      'workloads: [{cgroup: DESERTED}]',
      [
        /^EVICTD_LINT_NOTHING_EVICTABLE evictd evicts nothing: (no workload exists in DESERTED now|no workload in DESERTED is evictable now: 1 × it has no process)$/,
      ],
    ],
    [
      'everything is outside the node',
      'node: {cgroup: DESERTED}\nworkloads: [{cgroup: SOURCE}]',
      [/^EVICTD_LINT_NOTHING_EVICTABLE evictd evicts nothing: no workload in SOURCE is evictable now: 2 × outside the node/],
    ],
    [
      'several rules together make all workloads critical',
      'workloads: [{cgroup: SOURCE}]\nrules: [{match: {name: web}, critical: true}, {match: {path: "SOURCE/batch-*"}, critical: true}]',
      ['EVICTD_LINT_ALL_CRITICAL every workload that exists now (2) is critical: rules[0] web, rules[1] batch-1; evictd evicts nothing'],
    ],
    [
      'a rule matches no workload',
      'workloads: [{cgroup: SOURCE}]\nrules: [{match: {name: "bacth-*"}, priority: -10}]',
      [/^EVICTD_LINT_RULE_UNMATCHED rules\[0\] \(name: bacth-\*\) matches no workload that exists now: batch-1, (idle, )?web$/],
    ],
    [
      'a rule can match no workload',
      'workloads: [{cgroup: SOURCE}]\nrules: [{match: {path: "DESERTED/*"}, priority: -10}]',
      ['EVICTD_LINT_RULE_UNREACHABLE rules[0] (path: DESERTED/*) can never match: its path matches no direct child of SOURCE'],
    ],
    [
      'critical is final',
      'workloads: [{cgroup: SOURCE}]\nrules: [{match: {name: "[wb]*"}, priority: 1}, {match: {name: "w*"}, critical: true}, {match: {name: web}, critical: false}]',
      [
        /^EVICTD_LINT_RULE_UNMATCHED rules\[0\]/,
        'EVICTD_LINT_CRITICAL_STAYS rules[2] (name: web) has no effect on web: rules[1] makes it critical, and critical: false does not undo that',
      ],
    ],
  ])('%s', async (_rule, yaml, said) => {
    expect(await check(yaml)).toEqual(said.map((line) => (typeof line === 'string' ? line : (expect.stringMatching(line) as unknown))));
  });
});

test.each<[rule: string, token: string | undefined, mode: number, said: RegExp | undefined]>([
  ['a secret', 'a token of the test', 0o640, undefined],
  ['all users may read it', 'a token of the test', 0o644, /^EVICTD_LINT_TOKEN_FILE all users .* may read or write the token in .*token$/],
  ['it is too short', 'short\n', 0o600, /^EVICTD_LINT_TOKEN_FILE the status page and the API answer 503: .* fewer than 16 characters$/],
  ['it is missing', undefined, 0o600, /^EVICTD_LINT_TOKEN_FILE .* ENOENT/],
])('the token file of the status page: %s', async (_rule, token, mode, said) => {
  const file = join(scratch(), 'token');
  if (token !== undefined) writeFileSync(file, token, { mode });
  const found = await check(`workloads: [{cgroup: SOURCE}]\nmetrics: {tokenFile: ${file}}`);
  expect(found).toEqual(said === undefined ? [] : [expect.stringMatching(said)]);
});

test.each<[rule: string, key: string | undefined, mode: number, said: RegExp | undefined]>([
  ['a secret', 'k\n', 0o600, undefined],
  ['all users may read it', 'k', 0o604, /^EVICTD_LINT_SECRET_FILE all users .* may read or write the key in .*key$/],
  ['it is empty', '\n', 0o600, /^EVICTD_LINT_SECRET_FILE evictd cannot sign notifications, and sends none: .*key is empty$/],
  ['it is missing', undefined, 0o600, /^EVICTD_LINT_SECRET_FILE .* ENOENT/],
])('the key file of the webhook: %s', async (_rule, key, mode, said) => {
  const file = join(scratch(), 'key');
  if (key !== undefined) writeFileSync(file, key, { mode });
  const found = await check(`workloads: [{cgroup: SOURCE}]\nnotifications: {webhook: {url: 'http://127.0.0.1/', secretFile: ${file}}}`);
  expect(found).toEqual(said === undefined ? [] : [expect.stringMatching(said)]);
});

test.each([
  ['root', []],
  ['no-such-group', [expect.stringMatching(/^EVICTD_LINT_CONTROL_GROUP only root can connect .* has no group no-such-group$/)]],
])('the group of the control socket: %s', async (group, said) => {
  expect(await check(`workloads: [{cgroup: SOURCE}]\ncontrolSocket: {group: ${group}}`)).toEqual(said);
});

describe('the facts that are read from a machine', () => {
  const facts = (yaml: string): Promise<MachineFacts> => readMachineFacts(load({ 'config.yaml': yaml }), filesystemsRead);

  test('include capacities of all signals with a threshold, the disk included, and a notifier for memory', async () => {
    const { capacities, unreadable, polled, reserve, estimated } = await facts('evictionHard: {pid.available: 5%}');
    expect([...capacities.keys()].sort()).toEqual([
      'memory.available',
      'memory.pressure.full',
      'nodefs.available',
      'nodefs.inodesFree',
      'pid.available',
    ]);
    expect([[...unreadable].filter(([signal]) => signal !== 'allocatableMemory.available'), [...polled]]).toEqual([[], []]);
    expect(reserve?.kernelBytes).toBeGreaterThan(0n);
    expect([estimated, (await facts('compatibility: kubelet')).estimated]).toEqual([true, false]);
  });

  test('include the pods of the API server as workloads, or a report that it does not answer', async () => {
    const server = await FakeApiServer.start();
    const kubepods = testCgroup();
    onTestFinished(async () => {
      await server.away();
      await kubepods.cleanup();
    });
    const uid = randomUUID();
    await kubepods.child('kubepods').child(`pod${uid}`).spawn('sleep', ['300']);
    server.store.put('pods', aPod('web', { metadata: { uid } }));
    const directory = scratch();
    const kubeconfig = server.kubeconfig(join(directory, 'kubeconfig'));
    const yaml = `kubernetes: {kubeconfig: ${kubeconfig}, nodeName: ${NODE}}
rules: [{match: {name: default/*, labels: {app: web}}, priority: 1}]
runtimeDirectory: ${directory}`;
    expect((await facts(yaml)).workloads).toMatchObject({
      present: [{ name: 'default/web', matched: [0], unevictable: undefined }],
      sources: [{ text: 'pods of the API server', workloads: 1, problems: [] }],
    });
    await server.away();
    expect((await facts(yaml)).workloads).toMatchObject({
      present: [],
      sources: [{ workloads: 0, problems: [{ code: 'EVICTD_KUBERNETES_UNREACHABLE' }] }],
    });
  });

  test('count the memory of the kernel as used by the cgroup', async () => {
    source.limit(64n * 1024n * 1024n);
    const { capacities, reserve, estimated } = await facts(`node: {cgroup: ${source.path}}`);
    expect(estimated).toBe(false);
    expect([capacities.get('memory.available'), reserve?.kernelBytes]).toEqual([64n * 1024n * 1024n, 0n]);
  });

  test('do not exist without the node cgroup, and the command reports the error', async () => {
    await expect(facts(`node: {cgroup: ${source.path}/nothing}`)).rejects.toMatchObject({ code: 'EVICTD_NODE_MISSING' });
  });
});
