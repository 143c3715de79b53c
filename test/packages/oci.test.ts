import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { testCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';

// The image that `make packages` has built, run by podman with a store of its own and the options of docs/container.md.

const ARCHIVE = `build/oci/evictd_${manifest.version}_amd64.tar`;
const scratch = mkdtempSync(join(tmpdir(), 'evictd-test-oci-'));
const STORE = ['--root', `${scratch}/store`, '--runroot', `${scratch}/run`, '--storage-driver', 'vfs'];
/** runc, because crun refuses a machine with both versions of cgroups. The limits: some machines permit none that is higher. */
const HERE = ['--cgroup-manager', 'cgroupfs', '--runtime', 'runc'];
const LIMITS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'];
const IMAGE = `localhost/evictd:${manifest.version}`;

const podman = (...args: string[]): string =>
  execFileSync('sh', ['-c', 'exec podman "$@" 2>&1', 'sh', ...STORE, ...HERE, ...args], { encoding: 'utf8' });

/** The options in the documentation that neither concern this machine's own evictd nor need a right that this one may lack. */
function documented(): string[] {
  const [, block = ''] = /```\npodman run (.*?)\n```/s.exec(readFileSync('docs/container.md', 'utf8')) ?? [];
  const kept = /--(?:pid|cgroupns|network|cap-drop|cap-add|security-opt) \S+|--read-only|--volume \/(?:sys|:)\S+/g;
  return (block.match(kept) ?? []).flatMap((option) => option.replace(',sys_resource', '').split(' '));
}

beforeAll(() => {
  podman('load', '--quiet', '--input', ARCHIVE);
}, 300_000);
afterAll(() => {
  podman('rmi', '--force', '--all');
  rmSync(scratch, { recursive: true, force: true });
});

// docs/building.md states the size.
test('the image is at most 40 MiB', () => {
  expect(statSync(ARCHIVE).size).toBeLessThan(40 * 1024 * 1024);
});

test('the image has neither a shell nor another program than evictd and its Node', () => {
  const container = podman('create', '--network', 'none', ...LIMITS, IMAGE).trim();
  const files = execFileSync('sh', ['-c', `podman ${[...STORE, ...HERE].join(' ')} export ${container} | tar t`], { encoding: 'utf8' });
  podman('rm', container);
  const programs = files.split('\n').filter((file) => /bin\/.|lib\/evictd\/node$/.test(file));
  expect(programs).toEqual(['usr/bin/evictd', 'usr/lib/evictd/node']);
});

test('the image with the documented options evicts a workload outside the container, answers, and stops', async () => {
  const node = testCgroup();
  try {
    node.limit(512n << 20n);
    const victim = await node.child('victim').spawn('sleep', ['infinity']);
    // Met by any process.
    const command = ['run', '--node-cgroup', node.path, '--workload-cgroup', node.path, '--eviction-hard', 'memory.available<511.9Mi'];
    const directories = ['/var/lib/evictd', '/run/evictd'].flatMap((path, at) => {
      const directory = join(scratch, `directory-${String(at)}`);
      mkdirSync(directory, { mode: 0o700 });
      return ['--volume', `${directory}:${path}`];
    });
    const container = podman(
      'run',
      '--detach',
      ...documented(),
      ...directories,
      ...LIMITS,
      IMAGE,
      ...command,
      '--metrics-listen',
      'off',
    ).trim();
    try {
      await eventually('the eviction', () => podman('logs', container).includes('evicted victim'));
      expect(await victim.ended).toBe('SIGKILL');
      expect(podman('exec', container, 'evictd', 'history', '-o', 'json')).toContain('victim');
      expect(podman('exec', container, 'evictd', '--version')).toBe(`${manifest.version}\n`);
      podman('stop', container);
      expect(podman('inspect', '--format', '{{.State.ExitCode}}', container).trim()).toBe('0');
    } finally {
      podman('rm', '--force', container);
    }
  } finally {
    await node.cleanup();
  }
}, 300_000);
