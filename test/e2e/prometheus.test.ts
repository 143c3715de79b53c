import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { SLOWNESS } from '../support/slowness.js';
import { eventually } from '../support/eventually.js';
import { Evictd, evictd as command, scratchDirectory } from './evictd.js';
import { ABOVE_128_MIB, guarding, ON, testNode, workload } from './node.js';

// Debian's package prometheus has both programs.

const PACKAGED = resolve('packaging/prometheus');

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const dashboard = JSON.parse(readFileSync('packaging/grafana/evictd.json', 'utf8')) as Dashboard;

/** Queries without data on a node that has nothing of the kind, and why. */
const EMPTY: Readonly<Record<string, string>> = {
  evictd_candidate_usage_inodes: 'no workload is ranked for inodes',
  evictd_candidate_usage_processes: 'no workload is ranked for process ids',
  evictd_reclaimed_bytes_total: 'no step of reclaim is configured',
  evictd_reclaims_failed_total: 'no step of reclaim is configured',
  evictd_policy_actions_total: 'no policy is configured',
};

test('promtool accepts the rules, and their unit tests pass', { timeout: 600_000 * SLOWNESS }, async () => {
  const run = async (...args: string[]): Promise<string> => (await promisify(execFile)('promtool', args, { cwd: PACKAGED })).stdout;
  expect(await run('check', 'rules', 'evictd.rules.yml')).toMatch(/SUCCESS: \d+ rules found/);
  expect(await run('test', 'rules', 'evictd.rules.test.yml')).toContain('SUCCESS');
});

test(
  `a Prometheus that has scraped an eviction has data for every panel, and fires the alert (${ON})`,
  { timeout: 300_000 * SLOWNESS },
  async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 160, holdsMib: 8 });
    await workload(node.child('web'), { holdsMib: 24 });
    const evictd = await new Evictd({
      config: {
        ...guarding(node, [{ match: { name: 'web' }, priority: 100 }]),
        evictionSoft: { 'memory.available': '400Mi' },
        evictionSoftGracePeriod: { 'memory.available': '1h' },
        evictionHard: { ...ABOVE_128_MIB, 'nodefs.inodesFree': '1k', 'pid.available': '10' },
        filesystems: { nodefs: '/' },
        thresholds: [{ when: 'memory.available<1Mi & memory.pressure.full.avg10>99%', kind: 'soft', for: '1h' }],
        hooks: { postEvict: ['/bin/true'] },
        notifications: { webhook: { url: 'http://127.0.0.1:9/' } },
      },
    }).guarding();
    const scrape = await evictd.metrics();
    const promtool = spawnSync('promtool', ['check', 'metrics'], { input: scrape, encoding: 'utf8' });
    expect([promtool.status, promtool.stdout, promtool.stderr]).toEqual([0, '', '']);
    const check = await command('check', '--config', evictd.configFile, '-o', 'prometheus');
    const textfile = spawnSync('promtool', ['check', 'metrics'], { input: check.stdout, encoding: 'utf8' });
    expect([textfile.status, textfile.stdout, textfile.stderr]).toEqual([0, '', '']);

    const prometheus = await startPrometheus(await evictd.port());
    const found = async (query: string): Promise<readonly unknown[]> => {
      const { data } = (await prometheus(`query?query=${encodeURIComponent(query)}`)) as { data: { result: readonly unknown[] } };
      return data.result;
    };
    await eventually('a scrape', async () => (await found('evictd_evictions_total == 0')).length > 0, { ms: 60_000 });
    batch.grow();
    await evictd.recorded('outcome');
    await eventually('a scrape of the eviction', async () => (await found('increase(evictd_evictions_total[1m]) > 0')).length > 0, {
      ms: 60_000,
    });

    const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const));
    expect(queries.length).toBeGreaterThan(40);
    const annotations = dashboard.annotations.list.map(({ expr }) => ['annotation', expr] as const);
    const empty: string[] = [];
    for (const [title, expr] of [...queries, ...annotations]) {
      const isEmptyByNature = Object.keys(EMPTY).some((metric) => expr.includes(metric));
      const isEmpty = (await found(expanded(expr))).length === 0;
      if (isEmpty !== isEmptyByNature) empty.push(`${title}: ${expr}: ${isEmpty ? 'no data' : 'data, though it is listed as empty'}`);
    }
    expect(empty).toEqual([]);
    for (const { query } of dashboard.templating.list.filter(({ name }) => name !== 'datasource')) {
      const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
      expect(await found(`count by (${label}) (${expanded(selector)})`)).toHaveLength(1);
    }

    const path = `${node.path}/batch`;
    const firing = `ALERTS{alertname="EvictdEvicted", alertstate="firing", workload="${path}", eviction_signal="memory.available"}`;
    await eventually('the alert that names the workload', async () => (await found(firing)).length === 1, { ms: 60_000 });
    const { data } = (await prometheus('rules')) as { data: { groups: readonly { rules: readonly { name: string; health: string }[] }[] } };
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(20);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);

    const seconds = (ms: number): string => String(ms / 1_000);
    const range = `start=${seconds(Date.now() - 600_000)}&end=${seconds(Date.now() + 60_000)}`;
    const exemplars = (await prometheus(`query_exemplars?query=evictd_evictions_total&${range}`)) as {
      data: readonly { exemplars: readonly { labels: { decision: string } }[] }[];
    };
    const decision = String((await evictd.recorded('decision')).decision);
    expect(exemplars.data[0]?.exemplars[0]?.labels).toEqual({ decision });
  },
);

const expanded = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '1h').replaceAll('$job', 'evictd').replaceAll('$instance', '.*');

/** A Prometheus that scrapes twice a second, with the packaged rules. Returns its API. */
async function startPrometheus(target: number): Promise<(path: string) => Promise<unknown>> {
  const directory = scratchDirectory();
  const config = {
    global: { scrape_interval: '500ms', evaluation_interval: '1s' },
    rule_files: [join(PACKAGED, 'evictd.rules.yml')],
    scrape_configs: [{ job_name: 'evictd', static_configs: [{ targets: [`127.0.0.1:${String(target)}`] }] }],
  };
  writeFileSync(join(directory, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${String(port)}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(directory, { recursive: true });
  });
  const url = `http://127.0.0.1:${String(port)}`;
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually('Prometheus is ready', isReady, { ms: 60_000, circumstances: () => said });
  return async (path) => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as { status: string; error?: string };
    if (answer.status !== 'success') throw new Error(`${path}: ${String(answer.error)}`);
    return answer;
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
