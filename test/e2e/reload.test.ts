import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SLOWNESS } from '../support/slowness.js';
import { EVICTD, Evictd, evictd as command } from './evictd.js';
import { ABOVE_128_MIB, guarding, ON, testNode, workload } from './node.js';
import { setting, softly, terms } from './restarting.js';
import { aWhile, until } from './wait.js';

describe(`evictd reload (${ON})`, () => {
  test('returns when the configuration is in force', async () => {
    const config = guarding(testNode());
    const evictd = await new Evictd({ config }).guarding();
    for (const threshold of ['77Mi', '78Mi']) {
      evictd.configure({ ...config, evictionHard: { 'memory.available': threshold } });
      const { code, stdout } = await command('reload', '--config', evictd.configFile);
      expect([code, stdout]).toEqual([0, `evictd (process ${String(evictd.pid)}) reloaded its configuration\n`]);
      const bytes = await evictd.metric('evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}');
      expect(bytes).toBe(Number.parseInt(threshold) * 1024 * 1024);
    }
  });

  test('prints the warnings of the reload, keys that need a restart first', async () => {
    const config = guarding(testNode());
    const evictd = await new Evictd({ config }).guarding();
    const [another, nothing] = [
      { ...config, journal: { maxFiles: 7 } },
      { ...config, journal: { maxFiles: 7 }, workloads: [] },
    ];
    for (const [next, said] of [
      [another, /^warning: changed, but in force only after a restart: journal\n$/],
      [nothing, /^warning: changed, .*: journal\nwarning: no workload source is configured: .*\n$/],
    ] as const) {
      evictd.configure(next);
      const { code, stdout, stderr } = await command('reload', '--config', evictd.configFile);
      expect([code, stdout]).toEqual([0, `evictd (process ${String(evictd.pid)}) reloaded its configuration\n`]);
      expect(stderr).toMatch(said);
      for (const line of stderr.trimEnd().split('\n'))
        await evictd.until(line, () => evictd.log.some(({ msg }) => line === `warning: ${msg}`));
    }
  });

  test('exits with 78 and the positions of errors, and evictd keeps and reports its present configuration', async () => {
    const node = testNode();
    const config = guarding(node);
    const evictd = await new Evictd({ config }).guarding();
    const threshold = async () => evictd.metric('evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}');
    const before = await threshold();
    evictd.configure({ ...config, evictionHard: { 'memory.available': 'nonsense' } });
    const file = ['--config', evictd.configFile];
    const places = ['--node-cgroup', node.path, '--runtime-directory', `${evictd.directory}/run`];
    // The node and the directory of an invalid file are unknown: options or --pid name them.
    for (const [refusals, flags] of [
      [1, ['--pid', String(evictd.pid)]],
      [2, places],
    ] as const) {
      const { code, stderr } = await command('reload', ...file, ...flags);
      expect([code, stderr]).toEqual([78, expect.stringMatching(/config\.yaml:1:\d+: EVICTD_CONFIG_THRESHOLD/)]);
      expect(stderr).toContain(`evictd (process ${String(evictd.pid)}) keeps its present configuration\n`);
      expect(evictd.log.filter(({ code: logged }) => logged === 'EVICTD_RELOAD_REFUSED')).toHaveLength(refusals);
      expect([await evictd.metric('evictd_config_last_reload_successful'), await threshold()]).toEqual([0, before]);
    }
    expect(await evictd.recorded('reload-refused')).toMatchObject({ errors: [expect.stringContaining('EVICTD_CONFIG_THRESHOLD')] });

    evictd.configure(config);
    expect((await command('reload', ...file)).code).toBe(0);
    expect(await evictd.metric('evictd_config_last_reload_successful')).toBe(1);
  });

  test('exits with 78 for errors in a file that evictd was not started with, and evictd reloads its own file', async () => {
    const config = guarding(testNode());
    const evictd = await new Evictd({ config }).guarding();
    const draft = `${evictd.directory}/draft.yaml`;
    writeFileSync(draft, 'nonsense: 1\n', { mode: 0o600 });
    const { code, stderr } = await command('reload', '--config', draft, '--pid', String(evictd.pid));
    expect([code, stderr]).toEqual([78, expect.stringContaining('EVICTD_CONFIG_UNKNOWN_KEY')]);
    expect(stderr).toContain('was started with other files and reloaded those');
    await evictd.recorded('reload');
    const other = await command('reload', '--config', draft, '--pid', '1');
    expect([other.code, other.stderr]).toEqual([
      78,
      expect.stringMatching(/EVICTD_CONFIG_UNKNOWN_KEY[^]*EVICTD_RELOAD_NO_INSTANCE: process 1 /),
    ]);
  });

  test('exits with 1 if an evictd that was started with another file refuses that one, with its errors', async () => {
    const node = testNode();
    const evictd = await new Evictd({ config: guarding(node) }).guarding();
    const other = new Evictd({ config: guarding(node), args: ['--dry-run'] });
    other.child.kill('SIGKILL');
    other.configure({ ...guarding(node), runtimeDirectory: `${evictd.directory}/run` });
    evictd.configure({ nonsense: 1 });
    const { code, stderr } = await command('reload', '--config', other.configFile);
    expect(code).toBe(1);
    expect(stderr).toMatch(/EVICTD_RELOAD_REFUSED: .*refused the configuration and keeps its present one: .*EVICTD_CONFIG_UNKNOWN_KEY/);
  });

  test('exits with 75 if no evictd guards the node, or --pid is another process', async () => {
    const config = guarding(testNode());
    const evictd = await new Evictd({ config }).guarding();
    const meant = await command('reload', '--config', evictd.configFile, '--pid', '1');
    expect([meant.code, meant.stderr]).toEqual([
      75,
      expect.stringContaining('EVICTD_RELOAD_NO_INSTANCE: process 1 is not an evictd that guards this node'),
    ]);
    const right = await command('reload', '--config', evictd.configFile, '--pid', String(evictd.pid));
    expect(right.code).toBe(0);
    await evictd.stop('SIGKILL'); // its lock file stays, with its process id
    const later = await command('reload', '--config', evictd.configFile);
    expect([later.code, later.stderr]).toEqual([75, expect.stringContaining('EVICTD_RELOAD_NO_INSTANCE: no evictd guards this node')]);
  });

  test('loses no crossing and no grace period during many reloads', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 100 });
    const web = await workload(node.child('web'), { holdsMib: 50 });
    const config = {
      ...guarding(node, [{ match: { name: 'batch' }, priority: -1 }]),
      evictionHard: { 'memory.available': '64Mi' },
      evictionSoft: ABOVE_128_MIB,
      evictionSoftGracePeriod: { 'memory.available': `${String(3 * SLOWNESS)}s` },
      monitoringInterval: '1h', // no tick can see what a reload missed
    };
    const evictd = await new Evictd({ config }).guarding();
    const over = new AbortController();
    const storm = (async () => {
      while (!over.signal.aborted) await evictd.reloaded({ ...config, log: { format: 'json', level: 'info' } });
    })();
    await evictd.recorded('reload');
    batch.grow();
    expect(await batch.ended).toBe('SIGTERM');
    over.abort();
    await storm;

    expect(web.alive).toBe(true);
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    const journal = evictd.journal();
    const [met, ...again] = journal.filter((record) => record.type === 'threshold' && record.met === true);
    const decision = journal.find(({ type }) => type === 'decision');
    const reloaded = (from = '', to = '') => journal.filter(({ type, time }) => type === 'reload' && time > from && time < to);
    expect(again).toEqual([]);
    expect(reloaded(met?.time, decision?.time).length).toBeGreaterThan(1);
    // The grace period was not cut short.
    expect(Date.parse(decision?.time ?? '') - Date.parse(met?.time ?? '')).toBeGreaterThanOrEqual(2_900 * SLOWNESS);
  });

  test.each<[what: string, more: object, abandoned: string]>([
    ['a rule makes critical', { rules: [{ match: { name: '*' }, critical: true }] }, 'it may not be evicted any more: critical'],
    ['no source includes any more', { workloads: [] }, 'no workload source includes it any more'],
  ])('abandons the eviction of a workload that %s, as after a restart', async (_what, more, abandoned) => {
    const { node, batch, directory } = await setting('say');
    const long = { evictionMaxPodGracePeriod: 60 };
    const evictd = await new Evictd({ config: softly(node, long), directory }).guarding();
    batch.grow();
    await until('batch got SIGTERM', () => terms(batch) === 1);
    evictd.configure(softly(node, { ...long, ...more }));
    evictd.child.kill('SIGHUP');
    expect(await evictd.recorded('outcome')).toMatchObject({ decision: 1, result: 'abandoned', abandoned, processesLeft: 1 });
    await aWhile();
    expect([batch.alive, terms(batch)]).toEqual([true, 1]);
    expect(evictd.journal().filter(({ type }) => type === 'escalation')).toEqual([]);
  });

  test('exits with 1 without root, with the hint to run it as root', async () => {
    const evictd = await new Evictd({ config: guarding(testNode()) }).guarding();
    chmodSync(evictd.directory, 0o755);
    chownSync(evictd.configFile, 65_534, 65_534);
    const args = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, EVICTD, 'reload', '--config', evictd.configFile];
    const { status, stderr } = spawnSync('setpriv', args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/EVICTD_RELOAD_SIGNAL: cannot signal evictd: EACCES.*\n {2}hint: run it as root\n/),
    ]);
  });

  test('reloads a dry run if no evictd guards the node', async () => {
    const evictd = await new Evictd({ config: guarding(testNode()), args: ['--dry-run'] }).guarding();
    expect((await command('reload', '--config', evictd.configFile)).code).toBe(0);
  });
});
