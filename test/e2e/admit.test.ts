import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { chmodSync, closeSync, copyFileSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EVICTD, Evictd, evictd as command } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { until } from './wait.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const CRITICAL = { match: { name: 'postgres*' }, critical: true };

/** The runtime directory and configuration of `guard`. */
function admit(guard: Evictd, ...args: readonly string[]): Promise<{ code: number | NodeJS.Signals; stdout: string; stderr: string }> {
  return command('admit', '--config', guard.configFile, ...args);
}

function conditionsFiles(guard: Evictd): string[] {
  return readdirSync(join(guard.directory, 'run')).filter((name) => name.includes('conditions'));
}

describe(`evictd admit answers with the conditions of the evictd that guards the node (${ON})`, () => {
  test('under memory pressure only BestEffort workloads are refused, until the condition clears', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const config = { ...guarding(node, [CRITICAL]), monitoringInterval: '1s' };
    const guard = await new Evictd({ config }).guarding();
    expect(await admit(guard)).toEqual({ code: 0, stdout: 'admitted: the node has no condition\n', stderr: '' });

    batch.grow();
    await batch.ended;
    const refused = await admit(guard, '--name', 'batch-2');
    expect(refused).toMatchObject({ code: 1, stderr: '' });
    expect(refused.stdout).toMatch(
      /^refused: Evicted: The node had condition: \[MemoryPressure\]\. \(a BestEffort workload; MemoryPressure since /,
    );
    expect(await admit(guard, '--qos', 'guaranteed')).toMatchObject({ code: 0, stderr: '' });
    expect(await admit(guard, '--name', 'postgres')).toMatchObject({ code: 0, stderr: '' });
    const pod = { kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [], tolerations: [{ operator: 'Exists' }] } };
    expect(admitPod(guard, pod)).toMatchObject({ status: 0, stderr: '' });
    expect(admitPod(guard, { ...pod, spec: { containers: [] } })).toMatchObject({ status: 1, stderr: '' });

    guard.configure({ ...config, evictionPressureTransitionPeriod: '1s' });
    guard.child.kill('SIGHUP');
    await until('the condition clears', async () => (await admit(guard)).code === 0);
    expect((await admit(guard)).stderr).toBe('');
  });

  test('after SIGKILL its conditions hold for three intervals, then they are unknown', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const config = { ...guarding(node), monitoringInterval: '3s' };
    const guard = await new Evictd({ config }).guarding();
    batch.grow();
    await guard.recorded('condition');
    await batch.ended;
    await guard.stop('SIGKILL');
    const killedAt = performance.now();
    expect(await admit(guard)).toMatchObject({ code: 1, stderr: '' });

    await until('the conditions are too old', async () => (await admit(guard)).code === 0);
    expect(performance.now() - killedAt).toBeGreaterThan(5_000); // three intervals from the last tick, which may be an interval old
    const { code, stdout, stderr } = await admit(guard);
    expect([code, stdout]).toEqual([0, 'admitted: the node conditions are unknown (EVICTD_CONDITIONS_STALE)\n']);
    expect(stderr).toMatch(
      /^evictd: EVICTD_CONDITIONS_STALE: .*process \d+\) is from .*Z: \d+\.\ds ago, and evictd reads the node every 3\.0s\n/,
    );
    expect((await admit(guard, '--fail-closed')).code).toBe(1);

    const next = await new Evictd({ config: { ...config, runtimeDirectory: join(guard.directory, 'run') } }).guarding();
    // The next evictd keeps the condition: its transition period is not over.
    expect(await admit(next)).toMatchObject({ code: 1, stdout: expect.stringMatching(/^refused: .*MemoryPressure/) as string, stderr: '' });
  });

  test('after SIGTERM the conditions are unknown at once, and no file is left', async () => {
    const guard = await new Evictd({ config: guarding(testNode()) }).guarding();
    expect(conditionsFiles(guard)).toHaveLength(1);
    expect(await guard.stop()).toBe(0);
    expect(conditionsFiles(guard)).toEqual([]);
    const { code, stderr } = await admit(guard);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^evictd: EVICTD_CONDITIONS_ABSENT: /)]);
  });

  test('each node has its own answer, and a dry run publishes none', async () => {
    const [node, other] = [testNode(), testNode()];
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const guard = await new Evictd({ config: guarding(node) }).guarding();
    const run = join(guard.directory, 'run');
    const beside = await new Evictd({ config: { ...guarding(other), runtimeDirectory: run } }).guarding();
    const dry = await new Evictd({ config: { ...guarding(node), runtimeDirectory: run }, args: ['--dry-run'] }).guarding();
    batch.grow();
    await guard.recorded('condition');
    expect(await admit(guard)).toMatchObject({ code: 1, stderr: '' });
    expect(await admit(beside)).toMatchObject({ code: 0, stderr: '' });
    expect(conditionsFiles(guard)).toHaveLength(2);
    await dry.stop();
    expect(await admit(guard)).toMatchObject({ code: 1, stderr: '' });
  });
});

describe('evictd admit as a process', () => {
  test.each<[rule: string, args: readonly string[], code: number]>([
    ['a wrong command line', ['--bogus'], 0],
    ['a wrong command line with --fail-closed', ['--bogus', '--fail-closed'], 1],
    ['help', ['--help'], 0],
    ['conditions are unknown', ['--runtime-directory', '/nowhere'], 0],
    ['conditions are unknown, with --fail-closed', ['--runtime-directory', '/nowhere', '--fail-closed'], 1],
  ])('%s', async (_rule, args, code) => {
    const ended = await command('admit', ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr === '').toBe(args.includes('--help'));
  });

  test.each<[args: readonly string[], status: number]>([
    [[], 0],
    [['--fail-closed'], 1],
  ])('evictd admit with standard output on a full disk keeps its exit code: %j', (args, status) => {
    const full = openSync('/dev/full', 'w');
    const ended = spawnSync(process.execPath, [EVICTD, 'admit', '--runtime-directory', '/nowhere', ...args], {
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect(ended.status).toBe(status);
    expect(ended.stderr.toString()).toContain('EVICTD_OUTPUT_WRITE');
  });

  test('evictd admit works without the native addon', () => {
    const directory = temporaryDirectory('/dev/shm');
    const ended = spawnSync(process.execPath, [programAlone(directory), 'admit', '--runtime-directory', directory], { encoding: 'utf8' });
    expect([ended.status, ended.stderr]).toEqual([0, expect.stringContaining('EVICTD_CONDITIONS_ABSENT')]);
  });

  test('evictd admit works as a user without permission for the runtime directory', () => {
    const directory = temporaryDirectory('/dev/shm');
    const [program, runtime] = [programAlone(directory), join(directory, 'run')];
    chmodSync(directory, 0o755);
    mkdirSync(runtime, { mode: 0o700 });
    const denied = spawnSync(process.execPath, [program, 'admit', '--runtime-directory', runtime], {
      encoding: 'utf8',
      uid: 65_534,
      gid: 65_534,
    });
    expect([denied.status, denied.stderr]).toEqual([0, expect.stringMatching(/EVICTD_CONDITIONS_UNREADABLE: .*EACCES/)]);
  });
});

/** A copy without the files that are installed beside it. */
function programAlone(directory: string): string {
  const launcher = join(directory, 'evictd.js');
  copyFileSync(EVICTD, launcher);
  copyFileSync(resolve('dist/program.cjs'), join(directory, 'program.cjs'));
  return launcher;
}

function admitPod(guard: Evictd, pod: object): SpawnSyncReturns<string> {
  const args = [EVICTD, 'admit', '--config', guard.configFile, '--pod', '-'];
  return spawnSync(process.execPath, args, { input: JSON.stringify(pod), encoding: 'utf8' });
}
