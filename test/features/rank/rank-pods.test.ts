import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../../src/cli/output/error-text.js';
import { rankCommand } from '../../../src/features/rank/command.js';
import { container, podDocument } from '../../kubernetes/support.js';
import { ran, type Ran } from '../../cli/support.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), `evictd-test-${String(process.pid)}-`));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const file = (name: string, content: unknown): string => {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const unread = (): never => expect.unreachable('the machine was read');

/** Nothing of the machine may be asked for. */
const rank = (...args: string[]): Promise<Ran> => ran((io) => rankCommand({ io, open: unread, readOomKiller: unread }), args);

const Mi = 1024 ** 2;
const pod = (name: string, spec: Readonly<Record<string, unknown>>, parts: Parameters<typeof podDocument>[0] = {}) =>
  podDocument({ ...parts, metadata: { name, uid: `uid-${name}`, ...parts.metadata }, spec: { nodeName: 'node-1', ...spec } });
const using = (name: string, workingSetBytes: number) => ({
  podRef: { name, namespace: 'shop', uid: `uid-${name}` },
  memory: { workingSetBytes, usageBytes: workingSetBytes },
});
const asking = (memory: string) => ({ containers: [container('app', { memory })] });

const PODS = {
  kind: 'List',
  items: [
    pod('web', asking('64Mi')),
    pod('batch', { ...asking('64Mi'), priority: -10 }),
    pod('new', {}),
    pod('etcd', { priority: 2000001000 }, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'hash' } } }),
    pod('far', { nodeName: 'node-2' }),
    pod('done', {}, { status: { phase: 'Succeeded' } }),
    pod('failed', {}, { status: { phase: 'Failed' } }),
    pod('waiting', { nodeName: undefined }, { status: { phase: 'Pending' } }),
    pod('web', asking('48Mi')),
  ],
};
const SUMMARY = {
  node: { nodeName: 'node-1', memory: { availableBytes: 100 * Mi, workingSetBytes: 924 * Mi, time: '2026-01-01T00:00:00Z' } },
  pods: [
    using('web', 32 * Mi),
    using('batch', 200 * Mi),
    { ...using('etcd', 80 * Mi), podRef: { name: 'etcd', namespace: 'shop', uid: 'hash' } },
  ],
};

test('rank --pods has the order of a kubelet: pods without statistics, pods above their request, the others', async () => {
  const { out, error } = await rank('--pods', file('pods.json', PODS), '--summary', file('summary.json', SUMMARY));
  expect(error).toBeUndefined();
  expect(`\n${out}`).toBe(`
#  POD           PRIORITY   USAGE  REQUEST  OVER REQUEST  QOS
1  shop/new             0       ?        -             -  BestEffort
2  shop/batch         -10  200MiB    64MiB        136MiB  Burstable
-  shop/etcd   2000001000   80MiB        -         80MiB  BestEffort  never evicted: static: its manifest would start it again
3  shop/web             0   32MiB    48MiB             -  Burstable

node node-1: memory.available is 100MiB of 1GiB
shop/new would be evicted first: it uses an unknown amount, has no request, priority 0
left out: 1 on other nodes, 2 ended, 1 not scheduled, 1 listed twice
`);
});

test('rank --pods -o json prints amounts in the unit of the signal', async () => {
  const { out } = await rank('--pods', file('pods.json', PODS), '--summary', file('summary.json', SUMMARY), '-o', 'json');
  const report = JSON.parse(out) as { pods: unknown[] };
  expect(report).toMatchObject({
    signal: 'memory.available',
    layout: 'single',
    unit: 'bytes',
    node: 'node-1',
    available: 100 * Mi,
    capacity: 1024 * Mi,
    leftOut: { onOtherNodes: 1, ended: 2, unscheduled: 1, repeated: 1 },
  });
  expect(report.pods[1]).toEqual({
    place: 2,
    namespace: 'shop',
    name: 'batch',
    uid: 'uid-batch',
    priority: -10,
    qosClass: 'Burstable',
    usage: 200 * Mi,
    request: 64 * Mi,
    exceedsRequest: true,
    aboveRequest: 136 * Mi,
    protection: null,
    reasons: 'uses 200MiB, 136MiB above its request of 64MiB, priority -10',
  });
  expect(report.pods[0]).toMatchObject({ name: 'new', usage: null });
});

describe('documents that rank --pods reads', () => {
  test.each<[rule: string, pods: unknown, names: readonly string[]]>([
    ['a PodList', { kind: 'PodList', items: [pod('web', {})] }, ['web']],
    ['an array', [pod('web', {})], ['web']],
    ['one pod', pod('web', {}), ['web']],
    ['no pod', { kind: 'PodList', items: null }, []],
    ['a pod that names no node', podDocument({ spec: {} }), ['web']],
    ['the youngest first among equals', [pod('a', {}), pod('b', {}, { status: { startTime: '2026-01-01T00:00:00Z' } })], ['b', 'a']],
    ['then by name', [pod('b', {}), pod('a', {})], ['a', 'b']],
    ['the same name in two namespaces', [pod('web', {}), pod('web', {}, { metadata: { uid: 'u', namespace: 'test' } })], ['web', 'web']],
  ])('%s', async (_rule, pods, names) => {
    const { out } = await rank('--pods', file('pods.json', pods), '--summary', file('summary.json', SUMMARY), '-o', 'json');
    expect((JSON.parse(out) as { pods: { name: string }[] }).pods.map(({ name }) => name)).toEqual(names);
  });

  test('keep integers beyond 2^53', async () => {
    const summary = '{"node":{},"pods":[{"podRef":{"uid":"uid-web"},"memory":{"workingSetBytes":9007199254740993}}]}';
    const { out } = await rank('--pods', file('pods.json', pod('web', {})), '--summary', file('summary.json', summary), '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ node: null, available: null, pods: [{ usage: '9007199254740993' }] });
  });

  test.each<[rule: string, pods: unknown, summary: unknown, exit: number, message: string]>([
    ['text that is not JSON', '{"items":', SUMMARY, 65, 'pods.json is not JSON: '],
    ['an empty file', '', SUMMARY, 65, 'pods.json is empty'],
    [
      'a document of another kind',
      { kind: 'NodeList', items: [] },
      SUMMARY,
      65,
      'pods.json: kind is "NodeList": PodList, List or Pod is expected',
    ],
    [
      'an invalid amount, with its path in the list',
      [pod('a', {}), pod('b', asking('1Gig'))],
      SUMMARY,
      65,
      'pods.json: [1].spec.containers[0].resources.requests.memory: "1Gig": ',
    ],
    ['a summary with an invalid node', PODS, { node: 7 }, 65, 'summary.json: node is 7: an object is expected'],
    ['a summary without its node', PODS, {}, 65, 'summary.json: node is missing: an object is expected'],
    ['a summary whose node is null', PODS, { node: null }, 65, 'summary.json: node is null: an object is expected'],
    ['pods for a summary', PODS, PODS, 65, 'summary.json: node is missing: an object is expected'],
    ['an empty summary', PODS, null, 65, 'summary.json: node is missing: an object is expected'],
    ['a list for a summary', PODS, [], 65, 'summary.json: the document is a list: an object is expected'],
    ['a summary with pods that are not a list', PODS, { node: {}, pods: {} }, 65, 'summary.json: pods is an object: a list is expected'],
    ['a summary for pods', SUMMARY, SUMMARY, 65, 'pods.json: kind is missing: PodList, List or Pod is expected'],
    [
      'invalid statistics',
      PODS,
      { node: {}, pods: [{ memory: { workingSetBytes: -1 } }] },
      65,
      'summary.json: pods[0].memory.workingSetBytes is -1: ',
    ],
  ])('%s', async (_rule, pods, summary, exit, message) => {
    const { error, out } = await rank('--pods', file('pods.json', pods), '--summary', file('summary.json', summary));
    expect({ exit: exitCodeOf(error), out, message: (error as Error).message.startsWith(join(directory, message)) }).toEqual({
      exit,
      out: '',
      message: true,
    });
  });

  test('are refused if the file does not exist', async () => {
    const { error } = await rank('--pods', join(directory, 'none.json'), '--summary', file('summary.json', SUMMARY));
    expect(exitCodeOf(error)).toBe(66);
    expect(error).toMatchObject({ code: 'EVICTD_KUBERNETES_FILE', message: expect.stringContaining('ENOENT') as unknown });
  });
});

test('a summary may have no pods', async () => {
  const { error, out } = await rank('--pods', file('pods.json', pod('web', {})), '--summary', file('summary.json', { node: {} }));
  expect(error).toBeUndefined();
  expect(out).toMatch(/^1 {2}shop\/web .* \? /m);
});

test('rank --help prints these options apart from the configuration', () => {
  const help = rankCommand({ io: { stdout: () => 0, stderr: () => 0, isTTY: false, env: {} }, open: unread, readOomKiller: unread })
    .helpInformation()
    .split('\n\n');
  const part = help.find((text) => text.includes('--pods <file>'));
  expect(part).toMatch(/^Kubelet's pods:\n/);
  expect(part?.match(/^ +--?[\w-]+/gm)?.map((option) => option.trim())).toEqual(['--pods', '--summary', '--layout']);
});

test.each<[rule: string, args: readonly string[], message: RegExp]>([
  ['--pods without --summary', ['--pods', 'p'], /--pods needs --summary/],
  ['both documents from standard input', ['--pods', '-', '--summary', '-'], /--pods needs --summary/],
  ['--summary alone', ['--summary', 's'], /--summary needs --pods/],
  ['--layout alone', ['--layout', 'split'], /--layout needs --pods/],
  ...[
    ['--config', '/nowhere'],
    ['--compatibility', 'kubelet'],
    ['--node-cgroup', '/n'],
    ['--workload-cgroup', '/w'],
    ['--eviction-hard', 'memory.available<1Mi'],
    ['--eviction-max-pod-grace-period', '1'],
    ['--log-level', 'debug'],
    ['--limit', '3'],
  ].map((option): [string, string[], RegExp] => [
    `with ${option.join(' ')}`,
    ['--pods', 'p', '--summary', 's', ...option],
    new RegExp(`'--pods <file>' cannot be used with option '${option[0] ?? ''}`),
  ]),
  ['together with --kernel', ['--pods', 'p', '--summary', 's', '--kernel'], /cannot be used with option '--kernel'/],
  ['an unknown layout', ['--layout', 'many'], /Allowed choices are single, imagefs, split/],
])('a wrong use of rank --pods: %s', async (_rule, args, message) => {
  const { error } = await rank(...args);
  expect(error).toMatchObject({ message: expect.stringMatching(message) as unknown });
});
