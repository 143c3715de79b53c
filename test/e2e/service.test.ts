import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, evictd as command } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

describe(`evictd guards despite missing and used resources, and reports them (${ON})`, () => {
  test('a metrics port in use causes a warning, retries, and evictions go on', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const occupant = createServer();
    await new Promise<void>((resolve) => occupant.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void occupant.close());
    const { port } = occupant.address() as { port: number };
    const evictd = new Evictd({ config: { ...guarding(node), metrics: { listen: `127.0.0.1:${String(port)}` } } });
    const warning = await evictd.logged(/^metrics cannot be served on .*: the address is in use; trying again/);
    expect(warning).toMatchObject({ level: 'warn', code: 'EVICTD_METRICS_LISTEN' });
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    occupant.close();
    await evictd.logged(/^metrics are served on/);
    await evictd.guarding(port);
  });

  test('a missing workload cgroup is logged, and guarded as soon as it exists', async () => {
    const node = testNode();
    const config = { ...guarding(node), workloads: [{ cgroup: `${node.path}/later` }], monitoringInterval: '100ms' };
    const evictd = await new Evictd({ config }).guarding();
    expect(await evictd.logged(/^workload source .*\/later does not exist/)).toMatchObject({ level: 'warn' });
    expect((await evictd.get('/readyz'))?.body).toMatch(/note: workload source .*\/later does not exist/);
    const batch = await workload(node.child('later').child('batch'), { growsMib: 140 });
    await evictd.logged(/^is solved: workload source .*\/later/);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.recorded('decision')).toMatchObject({ victim: { name: 'batch', path: `${node.path}/later/batch` } });
  });

  test('a missing workload source is logged, with conditions and alerts, and no eviction', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const evictd = await new Evictd({ config: { ...guarding(node), workloads: [] } }).guarding();
    expect((await evictd.logged(/^EVICTD_WORKLOADS_NONE$/)).msg).toMatch(
      /^no workload source is configured: evictd exports metrics, but evicts nothing \(name one: /,
    );
    batch.grow();
    expect(await evictd.recorded('alert')).toMatchObject({ alert: 'no-workload-source' });
    expect(await evictd.recorded('condition')).toMatchObject({ condition: 'MemoryPressure', status: true });
    await aWhile();
    expect(batch.alive).toBe(true);
    expect(await evictd.metric('evictd_node_condition{condition="MemoryPressure"}')).toBe(1);
    expect(evictd.journal().map(({ type }) => type)).not.toContain('decision');
  });
});

describe(`evictd does not start (${ON})`, () => {
  test('with a missing node cgroup, and exits with 75', async () => {
    const evictd = new Evictd({ config: { node: { cgroup: '/evictd-test-nowhere' } } });
    expect(await evictd.exited()).toBe(75);
    expect(evictd.log.map(({ msg }) => msg).join('\n')).toMatch(/EVICTD_NODE_MISSING: node cgroup \/evictd-test-nowhere does not exist/);
  });

  test('as a second instance for the same node, and exits with 75, while one for another node starts', async () => {
    const [node, other] = [testNode(), testNode()];
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const first = await new Evictd({ config: guarding(node) }).guarding();
    const run = join(first.directory, 'run');
    const second = new Evictd({ config: { ...guarding(node), runtimeDirectory: run } });
    expect(await second.exited()).toBe(75);
    expect(second.log.map(({ msg }) => msg).join('\n')).toContain(
      `EVICTD_INSTANCE_RUNNING: another evictd (process ${String(first.pid)}) guards this node`,
    );
    const beside = await new Evictd({ config: { ...guarding(other), runtimeDirectory: run } }).guarding();
    expect(beside.running).toBe(true);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await first.recorded('outcome');
    expect(beside.journal().map(({ type }) => type)).toEqual(['start']);
    // After SIGKILL the next one starts.
    await first.stop('SIGKILL');
    await new Evictd({ config: { ...guarding(node), runtimeDirectory: run } }).guarding();
  });

  test('with an invalid configuration, and exits with 78 and all errors with their positions', async () => {
    const evictd = new Evictd({ config: {} });
    writeFileSync(
      evictd.configFile,
      'evictionHard:\n  memory.availabel: 100Mi\n  nodefs.available: 120%\nevictionSoft: { memory.available: 1Gi }\nworkload: []\n',
    );
    evictd.child.kill('SIGKILL');
    const { code, stderr } = await command('run', '--config', evictd.configFile);
    expect(code).toBe(78);
    const places = stderr
      .split('\n')
      .filter((line) => line.startsWith(evictd.configFile))
      .map((line) => line.slice(evictd.configFile.length).split(' ')[0]);
    expect(places.sort()).toEqual([':2:3:', ':3:21:', ':4:17:', ':5:1:']);
  });

  test('with a configuration that all users may write, and exits with 78', async () => {
    const node = testNode();
    const evictd = new Evictd({ config: guarding(node) });
    evictd.child.kill('SIGKILL');
    chmodSync(evictd.configFile, 0o666);
    const { code, stderr } = await command('run', '--config', evictd.configFile);
    expect([code, stderr]).toEqual([78, expect.stringMatching(/config\.yaml: EVICTD_CONFIG_WRITABLE .*chmod go-w/)]);
  });

  test.each([
    ['with an unknown option', ['run', '--evict-everything'], 64],
    ['with an unknown command', ['evict'], 64],
    ['with an invalid threshold', ['run', '--eviction-hard', 'memory.available<plenty'], 78],
  ])('%s', async (_what, args, code) => {
    const ended = await command(...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).not.toBe('');
  });
});

describe(`SIGHUP (${ON})`, () => {
  test('reloads a valid file, and keeps the present configuration if the file is invalid', async () => {
    const node = testNode(1024n << 20n);
    const batch = await workload(node.child('batch'), { holdsMib: 140, growsMib: 100 });
    const critical = { match: { name: 'batch' }, critical: true };
    const config = { ...guarding(node, [critical]), evictionHard: { 'memory.available': '100Mi' } };
    const evictd = await new Evictd({ config }).guarding();

    writeFileSync(evictd.configFile, 'evictionHard: { memory.available: nonsense }\n');
    evictd.child.kill('SIGHUP');
    expect((await evictd.logged(/^EVICTD_RELOAD_REFUSED$/)).msg).toBe('the new configuration was refused; the former one stays in force');
    expect(evictd.log.some(({ msg }) => /config\.yaml:1:\d+: EVICTD_CONFIG_THRESHOLD/.test(msg))).toBe(true);
    expect(await evictd.recorded('reload-refused')).toMatchObject({
      errors: [expect.stringMatching(/config\.yaml:1:\d+: EVICTD_CONFIG_THRESHOLD/)],
    });
    expect(await evictd.metric('evictd_config_last_reload_successful')).toBe(0);
    expect(await evictd.metric('evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}')).toBe(100 * 1024 * 1024);

    evictd.configure({ ...config, evictionHard: { 'memory.available': '900Mi' } }); // met at once, but batch is critical
    evictd.child.kill('SIGHUP');
    await evictd.logged(/^evictd reloaded its configuration: /);
    await evictd.recorded('alert');
    expect(await evictd.metric('evictd_config_last_reload_successful')).toBe(1);
    expect(batch.alive).toBe(true);

    evictd.configure({ ...config, evictionHard: { 'memory.available': '900Mi' }, rules: [] });
    evictd.child.kill('SIGHUP');
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.recorded('decision')).toMatchObject({ threshold: '900Mi', wake: 'reload' });
  });
});
