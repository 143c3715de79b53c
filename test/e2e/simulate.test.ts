import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { generatedCluster } from '../support/cluster/generated-cluster.js';

/** The built program, whose implementation of this command is a bundle of its own. */
function simulate(args: readonly string[], input: string): ReturnType<typeof spawnSync> {
  return spawnSync(process.execPath, ['dist/evictd.js', 'simulate', '-', ...args], { input, maxBuffer: 2 ** 28, encoding: 'utf8' });
}

const objects = [...generatedCluster({ seed: 7, nodes: 200, podsPerNode: 20 })];
const dump = JSON.stringify({ apiVersion: 'v1', items: objects, kind: 'List' }, undefined, 4);

test('a drain of a cluster from standard input moves all pods but those of DaemonSets', () => {
  const { status, stdout, stderr } = simulate(['--drain', 'node-20', '-o', 'json'], dump);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const document = JSON.parse(String(stdout)) as {
    readonly cluster: unknown;
    readonly outcome: { readonly evicted: number; readonly moved: number; readonly pending: readonly string[] };
    readonly nodes: readonly { readonly node: string; readonly after: { readonly pods: { readonly used: number } } }[];
  };
  expect(document.cluster).toMatchObject({ nodes: 200, pods: 4000 });
  const { evicted, moved, pending } = document.outcome;
  expect(evicted).toBeGreaterThan(0);
  expect(moved + pending.length).toBe(evicted);
  expect(document.nodes.find(({ node }) => node === 'node-20')?.after.pods.used).toBe(4);
});

test('a truncated dump is reported, and its first part is simulated', () => {
  const { status, stdout, stderr } = simulate([], dump.slice(0, -200_000));
  expect(status).toBe(0);
  expect(String(stderr)).toMatch(
    /^standard input:\d+:\d+: error: Pod \S+: truncated: the file ends within the object that begins in line \d+$/m,
  );
  expect(String(stdout)).toMatch(/^200 nodes, \d+ pods/);
});

test.each<[why: string, args: readonly string[], input: string, exit: number, message: string]>([
  ['a file without a node', [], '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}', 65, 'the input has no node'],
  ['a node that is in no file', ['--drain', 'other'], dump, 64, 'no node "other" in the input'],
  ['a configuration that does not exist', ['--policy', '/nowhere/kubelet.yaml'], dump, 78, '/nowhere/kubelet.yaml'],
])('%s is reported, and sets the exit code', (_why, args, input, exit, message) => {
  const { status, stderr } = simulate(args, input);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('EVICTD_INTERNAL');
  expect(status).toBe(exit);
});
