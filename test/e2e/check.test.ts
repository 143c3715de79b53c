import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { evictd, EVICTD } from './evictd.js';
import { isV1, MIB, ON, processesIn, testNode, workload } from './node.js';

const FORMATS = ['text', 'json', 'nagios', 'prometheus'] as const;
type Format = (typeof FORMATS)[number];

/** `evictd check` of a node that has 512 MiB and uses a little more than 100. */
async function check(node: TestCgroup, format: Format, thresholds: readonly string[]): Promise<{ code: unknown; stdout: string }> {
  const alone = '--eviction-hard=nodefs.available<0%,nodefs.inodesFree<0%';
  return evictd('check', '-o', format, '--node-cgroup', node.path, alone, ...thresholds);
}

const OK = ['--eviction-hard', 'memory.available<64Mi'];
const SOFT = [...OK, '--eviction-soft', 'memory.available<450Mi', '--eviction-soft-grace-period', 'memory.available=1h'];
const HARD = ['--eviction-hard', 'memory.available<450Mi'];

describe(`check under real pressure (${ON})`, () => {
  test.each<[status: string, exit: number, thresholds: readonly string[], said: Record<Format, RegExp>]>([
    ['ok', 0, OK, { text: /ok/i, json: /"status": ?"ok"/, nagios: /^OK - /, prometheus: /^evictd_check_exit_code 0$/m }],
    ['a soft threshold', 1, SOFT, { text: /soft/, json: /"exit": ?1/, nagios: /^WARNING - /, prometheus: /^evictd_check_exit_code 1$/m }],
    ['a hard threshold', 2, HARD, { text: /hard/, json: /"exit": ?2/, nagios: /^CRITICAL - /, prometheus: /^evictd_check_exit_code 2$/m }],
  ])('%s has exit code %i in every format', async (_status, exit, thresholds, said) => {
    const node = testNode();
    await workload(node.child('web'), { holdsMib: 100 });
    for (const format of FORMATS) {
      const { code, stdout } = await check(node, format, thresholds);
      expect([format, code]).toEqual([format, exit]);
      expect(stdout).toMatch(said[format]);
      expect(stdout.endsWith('\n')).toBe(true);
    }
  });

  test.each(FORMATS)('a node that does not exist has exit code 3, as %s', async (format) => {
    const { code, stdout } = await evictd('check', '-o', format, '--node-cgroup', '/evictd-test-nowhere');
    expect(code).toBe(3);
    const said = {
      text: /evictd-test-nowhere/,
      json: /"exit": ?3/,
      nagios: /^UNKNOWN - .*evictd-test-nowhere/,
      prometheus: /^evictd_check_exit_code 3$/m,
    };
    expect(stdout).toMatch(said[format]);
  });

  test('the JSON output has the values that the kernel reports', async () => {
    const node = testNode();
    await workload(node.child('web'), { holdsMib: 100 });
    const { stdout } = await check(node, 'json', HARD);
    const report = JSON.parse(stdout) as {
      status: string;
      signals: { signal: string; availableBytes: number; capacityBytes: number; thresholds: object[] }[];
      conditions: unknown;
      notifiers: { mechanism: string; live: boolean }[];
    };
    const memory = report.signals.find(({ signal }) => signal === 'memory.available');
    expect(memory).toMatchObject({ capacityBytes: 512 * MIB, thresholds: [{ kind: 'hard', met: true }] });
    const usage = Number(node.read(isV1 ? 'memory.usage_in_bytes' : 'memory.current'));
    expect(Math.abs(512 * MIB - usage - (memory?.availableBytes ?? 0))).toBeLessThan(4 * MIB);
    expect(report.notifiers.find(({ mechanism }) => mechanism === (isV1 ? 'memcg_threshold' : 'sampler'))).toMatchObject({ live: true });
    expect(JSON.stringify(report.conditions)).toContain('MemoryPressure');
  });
});

describe('standard output that cannot be written', () => {
  test.each<[rule: string, args: string[], exit: number]>([
    ['check: unknown', ['check'], 3],
    ['check with an unknown option', ['check', '-o', 'json', '--bogus'], 3],
    ['help', ['check', '--help'], 3],
    ['rank', ['rank'], 1],
    ['config show', ['config', 'show', '-o', 'json'], 1],
    ['config check has exit codes of its own', ['config', 'check'], 1],
  ])('%s', async (_rule, args, exit) => {
    expect(await toFullDevice(...args)).toEqual({
      code: exit,
      stderr: 'evictd: EVICTD_OUTPUT_WRITE: cannot write to standard output: ENOSPC (no space left on device)\n',
    });
  });

  test('a reader that closes the pipe early is not an error', async () => {
    const child = spawn(process.execPath, [EVICTD, 'config', 'show'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [unknown];
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe(`rank (${ON})`, () => {
  test('lists all workloads in eviction order with their protections, and signals none', async () => {
    const node = testNode();
    const [db, web, batch] = [node.child('db'), node.child('web'), node.child('batch')];
    const running = [await workload(db, { holdsMib: 40 }), await workload(web, { holdsMib: 10 }), await workload(batch, { holdsMib: 30 })];
    const file = configFile({
      node: { cgroup: node.path },
      workloads: [{ cgroup: node.path }],
      rules: [
        { match: { name: 'db' }, critical: true },
        { match: { name: 'web' }, requests: { memory: '64Mi' } },
        { match: { name: 'batch' }, priority: 1 },
      ],
    });
    const args = ['rank', '--config', file];
    const { code, stdout } = await evictd(...args, '-o', 'json');
    expect(code).toBe(0);
    const { workloads } = JSON.parse(stdout) as { workloads: { name: string; place: number | null; protection?: unknown }[] };
    expect(workloads.map(({ place, name, protection }) => [place, name, Boolean(protection)])).toEqual([
      [1, 'batch', false],
      [2, 'web', false],
      [null, 'db', true],
    ]);
    expect((await evictd(...args)).stdout).toMatch(/batch[\s\S]*web[\s\S]*db/);
    expect(running.map(({ alive }) => alive)).toEqual([true, true, true]);
    expect(processesIn(db, web, batch)).toHaveLength(3);
  });
});

async function toFullDevice(...args: string[]): Promise<{ code: unknown; stderr: string }> {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [EVICTD, ...args], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, stderr };
}

function configFile(config: object): string {
  const directory = temporaryDirectory('/dev/shm');
  const file = join(directory, 'config.yaml');
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
