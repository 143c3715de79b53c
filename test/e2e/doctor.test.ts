import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { hasCapSysResource } from '../native/kernel.js';
import { fuseWorks, mountFuse } from '../support/fuse.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { EVICTD, Evictd, evictd } from './evictd.js';
import { guarding, isV1, ON, testNode, workload } from './node.js';

const canMount = await fuseWorks();

interface Check {
  readonly id: string;
  readonly status: 'ok' | 'degraded' | 'broken';
  readonly summary: string;
  readonly fix?: string;
  readonly details: Readonly<Record<string, unknown>>;
}

interface Report {
  readonly code: unknown;
  readonly status: string;
  readonly checks: readonly Check[];
  readonly find: (id: string) => Check | undefined;
}

function report(stdout: string, code: unknown): Report {
  const { status, checks } = JSON.parse(stdout) as Pick<Report, 'status' | 'checks'>;
  return { code, status, checks, find: (id) => checks.find((check) => check.id === id) };
}

async function doctor(...args: string[]): Promise<Report> {
  const { code, stdout, stderr } = await evictd('doctor', '-o', 'json', ...args);
  expect(stderr).toBe('');
  return report(stdout, code);
}

/** A configuration file with directories of its own, which do not exist yet. */
function configFile(config: Readonly<Record<string, unknown>>): { readonly file: string; readonly directory: string } {
  const directory = temporaryDirectory('/dev/shm');
  chmodSync(directory, 0o755);
  const file = join(directory, 'config.yaml');
  const whole = {
    stateDirectory: join(directory, 'state'),
    runtimeDirectory: join(directory, 'run'),
    metrics: { listen: 'off' },
    ...config,
  };
  writeFileSync(file, JSON.stringify(whole), { mode: 0o644 });
  return { file, directory };
}

describe(`evictd doctor (${ON})`, () => {
  test('finds live notifiers, counts workloads, and leaves nothing behind', async () => {
    const node = testNode();
    await workload(node.child('web'));
    await workload(node.child('db'));
    node.child('idle');
    const rules = [{ match: { name: 'db' }, critical: true }];
    const { file, directory } = configFile({ ...guarding(node, rules), thresholds: [{ when: 'memory.pressure.full>40%', kind: 'hard' }] });
    const before = readdirSync(node.dir);
    const { code, status, checks, find } = await doctor('--config', file);

    expect(code).toBe({ ok: 0, degraded: 1, broken: 2 }[status]);
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
    for (const check of checks) expect([check.id, check.fix !== undefined]).toEqual([check.id, check.status !== 'ok']);
    expect(find('kernel.version')).toMatchObject({ status: 'ok', details: { features: { pidfd: true, process_mrelease: true } } });
    expect(find('kernel.pressure-window')).toMatchObject({ status: hasCapSysResource ? 'ok' : 'degraded' });
    expect(find('cgroup.version')).toMatchObject({ status: isV1 ? 'degraded' : 'ok', details: { version: isV1 ? 1 : 2 } });
    expect(find('cgroup.controllers')?.status).toBe(isV1 ? undefined : 'ok');
    expect(find('process.addon')?.status).toBe('ok');
    expect(find('node.memory')).toMatchObject({ status: 'ok', details: { node: node.path, capacityBytes: 512 << 20 } });
    const armed = find('notifier.memory.available');
    expect(armed).toMatchObject({ status: 'ok', summary: expect.stringContaining('memory.available<384Mi: ') as unknown });
    expect(armed?.details.notifiers).toContainEqual(
      expect.objectContaining({ mechanism: isV1 ? 'memcg_threshold' : 'sampler', live: true }),
    );
    expect(find('notifier.memory.pressure.full')?.details.notifiers).toContainEqual(
      expect.objectContaining({ mechanism: 'psi_trigger', live: true }),
    );
    expect(find('workloads[0]')).toMatchObject({ status: 'ok', details: { source: node.path } });
    expect(find('workloads.evictable')).toMatchObject({ status: 'ok', details: { evictable: 1 } });
    expect(find('service.instance')).toMatchObject({ status: 'degraded', details: { pid: null } });

    expect(readdirSync(node.dir)).toEqual(before);
    expect(readdirSync(directory)).toEqual(['config.yaml']);
  });

  test('reports the evictd that guards the node, and does not take its lock', async () => {
    const node = testNode();
    const running = await new Evictd({ config: guarding(node) }).guarding();
    const { find } = await doctor('--config', running.configFile);
    expect(find('service.instance')).toMatchObject({ status: 'ok', details: { pid: running.pid } });
    expect(find('service.version')).toMatchObject({ status: 'ok', details: { running: manifest.version } });
    expect(find('process.capabilities')?.details).toMatchObject({ subject: 'running', pid: running.pid });
    expect(find('service.oom-score-adj')?.status).toBe('degraded');
    expect(find('service.memory-min')?.status).toBe('degraded');
    expect(find('filesystem.runtime')).toMatchObject({ status: 'ok', details: { type: 'tmpfs' } });
    // After its end the file stays, but the lock is free.
    expect(await running.stop()).toBe(0);
    expect(existsSync(join(running.directory, 'run'))).toBe(true);
    expect((await doctor('--config', running.configFile)).find('service.instance')).toMatchObject({ details: { pid: null } });
  });

  test('reports a dry run as one that guards no workload', async () => {
    const running = await new Evictd({ config: guarding(testNode()), args: ['--dry-run'] }).guarding();
    expect((await doctor('--config', running.configFile)).find('service.instance')).toMatchObject({
      status: 'degraded',
      summary: `process ${String(running.pid)} is a dry run: it evicts nothing`,
      details: { pid: null, dryRun: running.pid },
    });
  });

  test('reports the configuration that the running evictd refused, with its position, until it accepts one', async () => {
    const config = guarding(testNode());
    const running = await new Evictd({ config }).guarding();
    const configuration = async (): Promise<Check | undefined> =>
      (await doctor('--config', running.configFile)).find('service.configuration');
    expect(await configuration()).toMatchObject({ status: 'ok' });
    running.configure({ ...config, evictionHard: { 'memory.available': 'nonsense' } });
    running.child.kill('SIGHUP');
    await running.logged(/EVICTD_CONFIG_THRESHOLD/);
    running.configure(config); // the file that doctor reads is valid by now
    expect(await configuration()).toMatchObject({
      status: 'degraded',
      summary: expect.stringMatching(/keeps the previous one: .*config\.yaml:1:\d+: /) as unknown,
      fix: expect.stringContaining('evictd reload') as unknown,
    });
    expect((await evictd('reload', '--config', running.configFile)).code).toBe(0);
    expect(await configuration()).toMatchObject({ status: 'ok' });
  });

  test('reports a missing workload source as broken, and first', async () => {
    const node = testNode();
    const { file } = configFile({ ...guarding(node), workloads: [] });
    const { code, stdout } = await evictd('doctor', '--config', file);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^broken {4}workloads\.evictable +no workload source is configured/m);
    expect(stdout).toMatch(/\n {2}no workload source [^\n]*\n$/);
  });

  test('reports a missing node cgroup, and an invalid configuration', async () => {
    const { code, find } = await doctor('--node-cgroup', '/evictd-test-nowhere');
    expect(code).toBe(2);
    expect(find('node.memory')).toMatchObject({
      status: 'broken',
      summary: expect.stringContaining('/evictd-test-nowhere does not exist') as unknown,
    });
    expect((await evictd('doctor', '--eviction-hard', 'memory.available<x')).code).toBe(78);
    expect((await evictd('doctor', '-o', 'yaml')).code).toBe(64);
  });

  test('without root it reports missing rights and what it cannot read', async () => {
    const node = testNode();
    await workload(node.child('web'));
    const running = await new Evictd({ config: guarding(node) }).guarding();
    const { file } = configFile({ ...guarding(node), runtimeDirectory: join(running.directory, 'run') });
    const { status, stdout, stderr } = spawnSync(process.execPath, [EVICTD, 'doctor', '-o', 'json', '--config', file], {
      uid: 65534,
      gid: 65534,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const { find } = report(stdout, status);
    expect(status).toBe(2);
    expect(find('process.capabilities')).toMatchObject({ status: 'broken', fix: 'run evictd as root' });
    expect(find('service.instance')).toMatchObject({ status: 'degraded', summary: expect.stringContaining('unknown whether') as unknown });
    expect(find('filesystem.runtime')).toMatchObject({ status: 'degraded', summary: expect.stringContaining('EACCES') as unknown });
    expect(find('cgroup.namespace')).toMatchObject({ status: 'degraded', details: { writable: false } });
    expect(find('workloads.evictable')?.details).toMatchObject({ workloads: 1 });
  });

  test.runIf(canMount)('filesystems that do not answer are reported, and do not delay it (where FUSE can be mounted)', async () => {
    const [nodefs, state] = [await mountFuse(), await mountFuse()];
    for (const fuse of [nodefs, state]) onTestFinished(() => fuse.remove());
    for (const fuse of [nodefs, state]) await fuse.hang('untaken');
    const node = testNode();
    const { file } = configFile({
      ...guarding(node),
      filesystems: { nodefs: nodefs.directory },
      stateDirectory: join(state.directory, 'evictd'),
    });
    const { code, find } = await doctor('--config', file);
    expect(code).toBe(2);
    expect(find('filesystem.state')).toMatchObject({ status: 'broken', summary: expect.stringContaining('did not answer') as unknown });
    expect(find('filesystem.nodefs')).toMatchObject({ status: 'degraded', summary: expect.stringContaining('cannot be read') as unknown });
    expect(find('filesystem.runtime')?.status).toBe('ok');
  });
});
