import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventCounter, type Metric } from '../../src/metrics/metric-types.js';
import { METRICS } from '../../src/metrics/definitions/all-metrics.js';
import { CHECK_EXIT_CODE } from '../../src/metrics/definitions/node-metrics.js';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import { Status } from '../../src/metrics/status.js';
import type { NotifierState } from '../../src/monitor/ports/ports.js';
import { WHOLE_SHARE } from '../../src/core/signal/signal.js';
import { listed } from '../core/listed.js';
import { Gi, Mi, SECOND, observations, threshold } from '../core/support.js';
import { parseExposition, type Family } from './exposition.js';

const THRESHOLDS = [
  threshold('memory.available', '100Mi'),
  threshold('memory.available', '10%', { graceSeconds: 30 }),
  threshold('nodefs.inodesFree', '5%'),
];

const VICTIM = { decision: 7, workload: '/batch' };

const notifier: NotifierState = {
  mechanism: 'memcg_threshold',
  signal: 'memory.available',
  target: 'memory.usage_in_bytes of /',
  live: true,
  reason: undefined,
  hint: undefined,
  essential: true,
};

interface Fixture {
  readonly status: Status;
  readonly memoryNodes: { node: number; availableBytes: bigint; capacityBytes: bigint }[];
  readonly counts: { errors: number; lost: number; dropped: number };
  readonly passTime: (ns: bigint) => void;
  readonly scrape: () => Promise<Map<string, Family>>;
}

function fixture(): Fixture {
  let nowNs = 0n;
  const status = new Status(() => nowNs);
  const counts = { errors: 0, lost: 0, dropped: 0 };
  const memoryNodes: Fixture['memoryNodes'] = [];
  const registry = new MetricsRegistry(status, {
    version: '1.2.3',
    dryRun: true,
    journalErrors: () => counts.errors,
    journalLostRecords: () => counts.lost,
    logLinesDropped: () => counts.dropped,
    memoryNodes: () => memoryNodes,
  });
  return {
    status,
    counts,
    memoryNodes,
    passTime: (ns) => (nowNs += ns),
    scrape: async () => parseExposition(await registry.metrics()),
  };
}

const samples = (families: Map<string, Family>, name: string): Record<string, number> | undefined => families.get(name)?.samples;

test('there are no samples before the first sample of the node', async () => {
  const families = await fixture().scrape();
  for (const name of [
    'signal_available_bytes',
    'signal_capacity_bytes',
    'signal_threshold_bytes',
    'node_condition',
    'notifier_live',
    'signal_polled',
    'sampler_period_seconds',
    'sample_age_seconds',
  ]) {
    expect(samples(families, `evictd_${name}`), name).toEqual({});
  }
});

test('a machine with several memory nodes has metrics for each', async () => {
  const { memoryNodes, scrape } = fixture();
  expect(samples(await scrape(), 'evictd_memory_node_available_bytes')).toEqual({});
  memoryNodes.push({ node: 0, availableBytes: 3n, capacityBytes: 8n }, { node: 2, availableBytes: 5n, capacityBytes: 9n });
  const families = await scrape();
  expect(samples(families, 'evictd_memory_node_available_bytes')).toEqual({
    'evictd_memory_node_available_bytes{memory_node="0"}': 3,
    'evictd_memory_node_available_bytes{memory_node="2"}': 5,
  });
  expect(samples(families, 'evictd_memory_node_capacity_bytes')).toEqual({
    'evictd_memory_node_capacity_bytes{memory_node="0"}': 8,
    'evictd_memory_node_capacity_bytes{memory_node="2"}': 9,
  });
});

test('signals have their own unit, and a percentage is computed from the capacity', async () => {
  const { status, scrape } = fixture();
  status.observe(observations(0n, { 'memory.available': 512n * Mi, 'pid.available': 30n }), THRESHOLDS);
  const families = await scrape();
  const all = Object.fromEntries(
    ['bytes', 'inodes', 'processes'].flatMap((unit) =>
      ['available', 'capacity', 'threshold'].flatMap((what) => Object.entries(samples(families, `evictd_signal_${what}_${unit}`) ?? {})),
    ),
  );
  expect(all).toEqual({
    'evictd_signal_available_bytes{eviction_signal="memory.available"}': Number(512n * Mi),
    'evictd_signal_capacity_bytes{eviction_signal="memory.available"}': Number(Gi),
    'evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}': Number(100n * Mi),
    'evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="soft"}': 107374184,
    'evictd_signal_available_processes{eviction_signal="pid.available"}': 30,
    'evictd_signal_capacity_processes{eviction_signal="pid.available"}': 1000,
    // 5% of an unknown number of inodes is unknown.
  });
});

test('pressure is a ratio, its totals are seconds, and a listed threshold is met or not', async () => {
  const { status, scrape } = fixture();
  const amounts = observations(0n, { 'memory.available': 50n * Mi });
  const stalled = { available: 412_500_000n, capacity: WHOLE_SHARE, timeNs: 0n, source: 'test' };
  const entries = [listed('memory.available<10% & memory.pressure.full>40%', 'soft', 9), listed('io.pressure.some>1%', 'hard')];
  status.observe({ ...amounts, observed: new Map([...amounts.observed, ['memory.pressure.full', stalled]]) }, entries);
  status.renewed([{ resource: 'memory', kind: 'full', seconds: 1.5, averages: { avg10: 0, avg60: 0, avg300: 0 } }]);
  const families = await scrape();
  expect(samples(families, 'evictd_signal_pressure_ratio')).toEqual({
    'evictd_signal_pressure_ratio{eviction_signal="memory.pressure.full"}': 0.4125,
  });
  expect(Object.keys(samples(families, 'evictd_signal_available_bytes') ?? {})).toEqual([
    'evictd_signal_available_bytes{eviction_signal="memory.available"}',
  ]);
  expect(samples(families, 'evictd_threshold_met')).toEqual({
    'evictd_threshold_met{when="memory.available<10% & memory.pressure.full>40%",kind="soft"}': 1, // io was not read: no sample
  });
  expect(samples(families, 'evictd_signal_threshold_bytes')).toEqual({});
  expect(samples(families, 'evictd_pressure_memory_stalled_seconds_total')).toEqual({ evictd_pressure_memory_stalled_seconds_total: 1.5 });
  expect(samples(families, 'evictd_pressure_memory_waiting_seconds_total')).toEqual({});
  // What evicts for no threshold has a series from the beginning, too: its first eviction is an increase.
  expect(Object.keys(samples(families, 'evictd_evictions_total') ?? {})).toEqual(
    ['memory.available', 'policy', 'disruption'].map((signal) => `evictd_evictions_total{eviction_signal="${signal}"}`),
  );
  expect(Object.keys(samples(families, 'evictd_alerts_total') ?? {}).filter((series) => series.includes('io.pressure'))).toEqual([
    'evictd_alerts_total{alert="alert-only",eviction_signal="io.pressure.some"}',
  ]);
});

test('an absolute threshold needs no sample', async () => {
  const { status, scrape } = fixture();
  status.observe(observations(0n, {}), THRESHOLDS.slice(0, 1));
  expect(samples(await scrape(), 'evictd_signal_threshold_bytes')).toEqual({
    'evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}': Number(100n * Mi),
  });
});

test('a signal that becomes unreadable has no value', async () => {
  const { status, scrape } = fixture();
  status.observe(observations(0n, { 'memory.available': 1n }), THRESHOLDS);
  await scrape();
  status.observe({ observed: new Map(), missing: new Map([['memory.available', 'gone']]) }, THRESHOLDS);
  expect(samples(await scrape(), 'evictd_signal_available_bytes')).toEqual({});
});

test('the metric of a threshold that a reload removed is gone', async () => {
  const { status, scrape } = fixture();
  status.observe(observations(0n, { 'memory.available': 1n }), THRESHOLDS);
  await scrape();
  status.observe(observations(0n, { 'memory.available': 1n }), THRESHOLDS.slice(0, 1));
  expect(Object.keys(samples(await scrape(), 'evictd_signal_threshold_bytes') ?? {})).toEqual([
    'evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}',
  ]);
});

test('conditions are 0 or 1 if a threshold sets them', async () => {
  const { status, scrape } = fixture();
  status.observe(observations(0n, {}), THRESHOLDS);
  status.condition('DiskPressure', true);
  status.condition('MemoryPressure', true);
  status.condition('MemoryPressure', false);
  expect(samples(await scrape(), 'evictd_node_condition')).toEqual({
    'evictd_node_condition{condition="MemoryPressure"}': 0,
    'evictd_node_condition{condition="DiskPressure"}': 1,
  });
});

test('counters of configured signals start at 0 and never fall', async () => {
  const { status, scrape } = fixture();
  const name = (metric: string, labels: string): string => `evictd_${metric}{${labels}}`;
  const memory = 'eviction_signal="memory.available"';
  const inodes = 'eviction_signal="nodefs.inodesFree"';
  status.observe(observations(0n, {}), THRESHOLDS);
  let families = await scrape();
  for (const metric of ['evictions_total', 'evictions_failed_total', 'evictions_ineffective_total']) {
    expect(samples(families, `evictd_${metric}`)).toMatchObject({ [name(metric, memory)]: 0, [name(metric, inodes)]: 0 });
  }
  expect(samples(families, 'evictd_thresholds_met_total')).toEqual({
    [name('thresholds_met_total', `${memory},kind="hard"`)]: 0,
    [name('thresholds_met_total', `${memory},kind="soft"`)]: 0,
    [name('thresholds_met_total', `${inodes},kind="hard"`)]: 0,
  });

  status.evicted('memory.available', VICTIM);
  status.evicted('memory.available', VICTIM);
  status.ineffective('memory.available', VICTIM);
  status.failed('memory.available', VICTIM);
  status.thresholdMet('memory.available', 'soft');
  await scrape(); // a scrape does not count twice
  families = await scrape();
  expect(samples(families, 'evictd_evictions_total')).toMatchObject({
    [name('evictions_total', memory)]: 2,
    [name('evictions_total', inodes)]: 0,
  });
  expect(samples(families, 'evictd_evictions_ineffective_total')?.[name('evictions_ineffective_total', memory)]).toBe(1);
  expect(samples(families, 'evictd_evictions_failed_total')?.[name('evictions_failed_total', memory)]).toBe(1);
  expect(samples(families, 'evictd_thresholds_met_total')?.[name('thresholds_met_total', `${memory},kind="soft"`)]).toBe(1);

  status.disruptable(['db', 'web']);
  status.budgetViolated('web');
  expect(samples(await scrape(), 'evictd_disruption_budget_violations_total')).toEqual({
    [name('disruption_budget_violations_total', 'budget="db"')]: 0,
    [name('disruption_budget_violations_total', 'budget="web"')]: 1,
  });

  const refusals = async () => samples(await scrape(), 'evictd_kubernetes_evictions_refused_total') ?? {};
  expect(await refusals()).toEqual({});
  const counts = { pods: 0, pendingDeletions: 0, podsAgeNs: undefined, lists: 0, requests: [] };
  status.kubernetes = () => ({ nodeName: 'node-1', server: undefined, answers: false, problem: undefined, ...counts });
  status.podEvictionRefused('several-budgets');
  const refused = (reason: string) => name('kubernetes_evictions_refused_total', `reason="${reason}"`);
  expect(await refusals()).toEqual({ [refused('budget')]: 0, [refused('several-budgets')]: 1, [refused('refused')]: 0 });

  status.alerted('nothing-evictable', 'memory.available');
  expect(samples(await scrape(), 'evictd_alerts_total')).toMatchObject({
    [name('alerts_total', `alert="nothing-evictable",${memory}`)]: 1,
    [name('alerts_total', `alert="nothing-evictable",${inodes}`)]: 0,
    [name('alerts_total', `alert="no-yield",${memory}`)]: 0,
  });

  status.observe(observations(0n, {}), []); // reloaded without thresholds
  const without = samples(await scrape(), 'evictd_evictions_total') ?? {};
  expect(without).toMatchObject({ [name('evictions_total', memory)]: 2 });
  expect(Object.keys(without)).not.toContain(name('evictions_total', inodes));
});

test('the budget is by the resource of the threshold, and evictions leave it while nothing happens', async () => {
  const { status, scrape, passTime } = fixture();
  status.observe(observations(0n, {}), [threshold('memory.available', '100Mi'), threshold('nodefs.inodesFree', '1k')]);
  const remaining = async () => samples(await scrape(), 'evictd_eviction_budget_remaining');
  expect(await remaining()).toEqual({});
  const budget = { max: 2, windowNs: 100n, bands: [{ minPriority: 0, max: 1 }] };
  const evictions = [10n, 20n, 30n].map((atNs, index) => ({ decision: index + 1, atNs, priority: 0 }));
  status.budget(budget, new Map([['memory', evictions]]));
  const series = (resource: string): string => `evictd_eviction_budget_remaining{resource="${resource}"}`;
  passTime(109n);
  expect(await remaining()).toEqual({ [series('memory')]: 0, [series('inodes')]: 2 });
  passTime(11n);
  expect(await remaining()).toEqual({ [series('memory')]: 1, [series('inodes')]: 2 });
  status.budget(undefined, new Map());
  expect(await remaining()).toEqual({});
});

test('reclaim metrics are by step: configured steps exist from the start, and no counter falls', async () => {
  const { status, scrape } = fixture();
  status.reclaiming(['images', 'journald']);
  status.reclaimed('journald', { bytes: 100n, inodes: 3n }, false);
  status.reclaimed('journald', { bytes: -50n, inodes: -1n }, true);
  status.reclaimed('gone', { bytes: 1n, inodes: 0n }, false);
  const families = await scrape();
  const counted = (name: string) =>
    Object.entries(samples(families, name) ?? {}).map(([sample, value]) => [sample.slice(name.length), value]);
  expect(Object.fromEntries(counted('evictd_reclaims_total'))).toEqual({
    '{step="images"}': 0,
    '{step="journald"}': 2,
    '{step="gone"}': 1,
  });
  expect(counted('evictd_reclaims_failed_total')).toContainEqual(['{step="journald"}', 1]);
  expect(counted('evictd_reclaimed_bytes_total')).toContainEqual(['{step="journald"}', 100]);
  expect(counted('evictd_reclaimed_inodes_total')).toContainEqual(['{step="journald"}', 3]);
});

test('OOM kills of the kernel by limit exist from the start and count processes', async () => {
  const { status, scrape } = fixture();
  status.oomKilled('workload', 1);
  status.oomKilled('node', 3);
  status.oomKilled('node', 1);
  expect(samples(await scrape(), 'evictd_oom_kills_total')).toEqual({
    'evictd_oom_kills_total{limit="node"}': 4,
    'evictd_oom_kills_total{limit="workload"}': 1,
    'evictd_oom_kills_total{limit="other"}': 0,
    'evictd_oom_kills_total{limit="unknown"}': 0,
  });
});

test('the sampler period of a signal is that of its fastest sampler; a sampler that is not live has none', async () => {
  const { status, scrape } = fixture();
  const sampler = { ...notifier, mechanism: 'sampler' } as const;
  status.notifiers([
    { ...notifier, live: true },
    { ...sampler, signal: 'pid.available', periodMs: 10_000 },
    { ...sampler, signal: 'pid.available', periodMs: 250 },
    { ...sampler, signal: 'nodefs.available', periodMs: 1 },
    { ...sampler, signal: 'nodefs.inodesFree', periodMs: undefined, live: false },
  ]);
  expect(samples(await scrape(), 'evictd_sampler_period_seconds')).toEqual({
    'evictd_sampler_period_seconds{eviction_signal="pid.available"}': 0.25,
    'evictd_sampler_period_seconds{eviction_signal="nodefs.available"}': 0.001,
  });
});

test('a mechanism is live if all its notifiers are', async () => {
  const { status, scrape } = fixture();
  status.notifiers([notifier, { ...notifier, live: false, reason: 'EPERM' }, { ...notifier, mechanism: 'psi_trigger' }]);
  expect(samples(await scrape(), 'evictd_notifier_live')).toEqual({
    'evictd_notifier_live{mechanism="memcg_threshold"}': 0,
    'evictd_notifier_live{mechanism="psi_trigger"}': 1,
  });
});

test('a signal is polled if an essential notifier is not live, but not if another one replaces it', async () => {
  const { status, scrape } = fixture();
  const sampler = { ...notifier, mechanism: 'sampler' } as const;
  status.notifiers([
    { ...notifier, live: false, reason: 'EROFS', essential: false }, // a cgroup mount that is read-only: the sampler watches
    sampler,
    { ...sampler, signal: 'pid.available' },
    { ...sampler, signal: 'pid.available', live: false, reason: 'EMFILE' }, // one level of several
    { ...notifier, mechanism: 'psi_trigger', signal: 'io.pressure.some', live: false, reason: 'EACCES', essential: false },
  ]);
  expect(samples(await scrape(), 'evictd_signal_polled')).toEqual({
    'evictd_signal_polled{eviction_signal="memory.available"}': 0,
    'evictd_signal_polled{eviction_signal="pid.available"}': 1,
    'evictd_signal_polled{eviction_signal="io.pressure.some"}': 0,
  });
});

test('the histogram from wake to signal has buckets from 0.25 ms to 10 s', async () => {
  const { status, scrape } = fixture();
  status.wakeToSignal(0.000_25, 1);
  status.wakeToSignal(0.004, 1);
  status.wakeToSignal(20, 1);
  const histogram = samples(await scrape(), 'evictd_wake_to_signal_seconds') ?? {};
  expect(histogram['evictd_wake_to_signal_seconds_bucket{le="0.00025"}']).toBe(1);
  expect(histogram['evictd_wake_to_signal_seconds_bucket{le="0.005"}']).toBe(2);
  expect(histogram['evictd_wake_to_signal_seconds_bucket{le="10"}']).toBe(2);
  expect(histogram['evictd_wake_to_signal_seconds_bucket{le="+Inf"}']).toBe(3);
  expect(histogram.evictd_wake_to_signal_seconds_count).toBe(3);
});

test('the sample age is computed at the scrape', async () => {
  const { status, passTime, scrape } = fixture();
  status.observe(observations(0n, {}), []);
  passTime(3n * SECOND);
  expect(samples(await scrape(), 'evictd_sample_age_seconds')).toEqual({ evictd_sample_age_seconds: 3 });
  passTime(SECOND / 2n);
  expect(samples(await scrape(), 'evictd_sample_age_seconds')).toEqual({ evictd_sample_age_seconds: 3.5 });
});

test('counts of the journal and the log are read at the scrape', async () => {
  const { counts, scrape } = fixture();
  await scrape();
  Object.assign(counts, { errors: 1, lost: 2, dropped: 3 });
  const families = await scrape();
  expect(samples(families, 'evictd_journal_errors_total')).toEqual({ evictd_journal_errors_total: 1 });
  expect(samples(families, 'evictd_journal_lost_records_total')).toEqual({ evictd_journal_lost_records_total: 2 });
  expect(samples(families, 'evictd_log_lines_dropped_total')).toEqual({ evictd_log_lines_dropped_total: 3 });
});

test('there are metrics of the build, the dry run and the process', async () => {
  const families = await fixture().scrape();
  expect(samples(families, 'evictd_build_info')).toEqual({ 'evictd_build_info{version="1.2.3"}': 1 });
  expect(samples(families, 'evictd_dry_run')).toEqual({ evictd_dry_run: 1 });
  const process = (name: string): number => samples(families, `process_${name}`)?.[`process_${name}`] ?? 0;
  expect(process('cpu_seconds_total')).toBeGreaterThan(0);
  expect(process('resident_memory_bytes')).toBeGreaterThan(10 * 1024 * 1024);
  expect(process('open_fds')).toBeGreaterThan(3);
  expect(process('max_fds')).toBeGreaterThanOrEqual(process('open_fds'));
  expect(Math.abs(process('start_time_seconds') + globalThis.process.uptime() - Date.now() / 1000)).toBeLessThan(5);
});

test('a pause by an operator has its end for everything, or the number of paused workloads', async () => {
  const { status, scrape } = fixture();
  const figures = async () => {
    const families = await scrape();
    return ['paused', 'pause_end_timestamp_seconds', 'paused_workloads'].map(
      (name) => Object.values(samples(families, `evictd_${name}`) ?? {})[0],
    );
  };
  expect(await figures()).toEqual([0, undefined, 0]);
  const pause = { reason: 'disk swap', beganBootNs: 0n, endsBootNs: 1_000n * SECOND, atNs: 0n };
  const everything = new Map([['', pause]]);
  status.paused(everything, 400n * SECOND);
  const [isPaused, endSeconds, workloads] = await figures();
  expect([isPaused, workloads]).toEqual([1, 0]);
  expect(Math.abs((endSeconds ?? 0) - Date.now() / 1_000 - 600)).toBeLessThan(60);
  status.paused(everything, 500n * SECOND); // the same pause keeps its end
  expect((await figures())[1]).toBe(endSeconds);
  expect(status.pauses[0]?.endsLocal).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
  status.paused(new Map([['/db', { ...pause, workload: { name: 'db', path: '/db' } }]]), 500n * SECOND);
  expect(await figures()).toEqual([0, undefined, 1]);
});

test('there are metrics of the taints in force, waiting evictions, and permissions of disruption budgets', async () => {
  const { status, scrape } = fixture();
  const read = async (...names: string[]) => {
    const families = await scrape();
    return Object.assign({}, ...names.map((name) => samples(families, name))) as Record<string, number>;
  };
  const maintenance = { key: 'maintenance', value: 'yes', effect: 'NoExecute' } as const;
  const waits = { name: 'web', path: '/web', taint: 'maintenance=yes:NoExecute', createdNs: 0n, dueNs: SECOND };
  status.tainted([maintenance], new Map([['id-web', waits]]));
  expect(await read('evictd_taint', 'evictd_taint_evictions_waiting')).toEqual({
    'evictd_taint{key="maintenance",value="yes",effect="NoExecute"}': 1,
    evictd_taint_evictions_waiting: 1,
  });
  status.tainted([], new Map());
  expect(await read('evictd_taint', 'evictd_taint_evictions_waiting')).toEqual({ evictd_taint_evictions_waiting: 0 });

  status.budgetStatuses = () => [{ name: 'web', expected: 4, currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1 }];
  const budget = ['disruptions_allowed', 'desired_healthy', 'current_healthy', 'expected_workloads'];
  expect(Object.entries(await read(...budget.map((what) => `evictd_disruption_budget_${what}`)))).toEqual(
    budget.map((what, index) => [`evictd_disruption_budget_${what}{budget="web"}`, index + 1]),
  );
});

test('docs/metrics.md lists exactly the exported metrics', async () => {
  const families = await fixture().scrape();
  const exported = [...families].map(([name, { type }]) => `${name} ${type}`);
  const row = /^\| `((?:evictd|process)_\w+)(?:\{([\w, ]+)\})?`(?: ¹)? \| (gauge|counter|histogram) \|/gm;
  const documented = [...readFileSync('docs/metrics.md', 'utf8').matchAll(row)].map(([, name = '', labels = '', type = '']) => ({
    name,
    labels,
    type,
  }));
  const definedLabels = new Map([...METRICS, CHECK_EXIT_CODE].map(({ name, labels }) => [name, labels.join(', ')]));
  expect(documented.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([...exported, 'evictd_check_exit_code gauge'].sort());
  for (const { name, labels } of documented) expect(labels, name).toBe(definedLabels.get(name));
});

test('a new metric is one entry in a list', async () => {
  const toy = eventCounter('evictd_toy_total', 'A toy.', ['limit'], { oomKilled: (limit, processes) => [processes, limit] }, () => [
    ['node'],
  ]) satisfies Metric;
  const status = new Status(() => 0n, [toy]);
  const own = {
    version: '1',
    dryRun: false,
    journalErrors: () => 0,
    journalLostRecords: () => 0,
    logLinesDropped: () => 0,
    memoryNodes: () => [],
  };
  const registry = new MetricsRegistry(status, own, [toy]);
  const scrape = async () => samples(parseExposition(await registry.metrics()), 'evictd_toy_total');
  expect(await scrape()).toEqual({ 'evictd_toy_total{limit="node"}': 0 });
  status.oomKilled('workload', 2);
  expect(await scrape()).toEqual({ 'evictd_toy_total{limit="node"}': 0, 'evictd_toy_total{limit="workload"}': 2 });
});
