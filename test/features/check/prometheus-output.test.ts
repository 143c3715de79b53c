import { expect, test } from 'vitest';
import { checkPrometheus } from '../../../src/features/check/prometheus-output.js';
import { failedReport } from '../../../src/features/check/check-report.js';
import { Status } from '../../../src/metrics/status.js';
import { MetricsRegistry } from '../../../src/metrics/registry.js';
import type { Observation } from '../../../src/core/signal/observation.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import { listed } from '../../core/listed.js';
import { SECOND } from '../../core/support.js';
import { parseExposition, type Family } from '../../metrics/exposition.js';
import { calm, clock, dead, live, report, short, thresholds, unread } from './support.js';

test('Prometheus output is exactly this text', () => {
  const notifiers = [live, dead, { ...live, live: false }];
  const stalls = [{ resource: 'io', kind: 'some', seconds: 2.5, averages: { avg10: 0, avg60: 0, avg300: 0 } }] as const;
  expect(checkPrometheus(report(short, { thresholds: thresholds.slice(0, 1), notifiers, stalls }))).toBe(
    `# HELP evictd_check_exit_code Exit code of evictd check: 0 ok, 1 soft threshold met, 2 hard threshold met, 3 unknown.
# TYPE evictd_check_exit_code gauge
evictd_check_exit_code 2
# HELP evictd_signal_available_bytes Available bytes.
# TYPE evictd_signal_available_bytes gauge
evictd_signal_available_bytes{eviction_signal="memory.available"} 52428800
evictd_signal_available_bytes{eviction_signal="nodefs.available"} 128849018880
# HELP evictd_signal_available_processes Available processes.
# TYPE evictd_signal_available_processes gauge
evictd_signal_available_processes{eviction_signal="pid.available"} 32000
# HELP evictd_signal_capacity_bytes Capacity in bytes.
# TYPE evictd_signal_capacity_bytes gauge
evictd_signal_capacity_bytes{eviction_signal="memory.available"} 17179869184
evictd_signal_capacity_bytes{eviction_signal="nodefs.available"} 214748364800
# HELP evictd_signal_capacity_processes Capacity in processes.
# TYPE evictd_signal_capacity_processes gauge
evictd_signal_capacity_processes{eviction_signal="pid.available"} 32768
# HELP evictd_signal_threshold_bytes The threshold is met when fewer bytes are available.
# TYPE evictd_signal_threshold_bytes gauge
evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"} 104857600
# HELP evictd_pressure_io_waiting_seconds_total Time in which some task waited for io.
# TYPE evictd_pressure_io_waiting_seconds_total counter
evictd_pressure_io_waiting_seconds_total 2.5
# HELP evictd_notifier_live 1 while every notifier of this mechanism is armed, 0 while another mechanism or polling replaces one.
# TYPE evictd_notifier_live gauge
evictd_notifier_live{mechanism="memcg_threshold"} 0
evictd_notifier_live{mechanism="psi_trigger"} 0
# HELP evictd_node_condition 1 while the node has the condition, else 0.
# TYPE evictd_node_condition gauge
evictd_node_condition{condition="MemoryPressure"} 1
`,
  );
});

test('unknown values have no line in Prometheus output', () => {
  const text = checkPrometheus(report(unread));
  expect(text).toContain('evictd_check_exit_code 3\n');
  expect(text).not.toMatch(/nodefs.available|DiskPressure/);
});

test('avg10 that replaces a share has a metric name of its own, once', () => {
  const half = { capacity: 1_000_000_000n, available: 500_000_000n, timeNs: 95n * SECOND, source: 'full avg10 of /proc/pressure/memory' };
  const observed = new Map<Signal, Observation>([
    ['memory.pressure.full', { ...half, standIn: 'avg10' }],
    ['memory.pressure.full.avg10', half],
    ['io.pressure.some', { ...half, standIn: 'avg10' }],
  ]);
  const entries = [
    listed('memory.pressure.full>40%', 'hard'),
    listed('memory.pressure.full.avg10>40%', 'hard'),
    listed('io.pressure.some>40%', 'hard'),
  ];
  const lines = checkPrometheus(report({ observed, missing: new Map() }, { thresholds: entries })).split('\n');
  expect(lines.filter((line) => line.startsWith('evictd_signal_pressure_ratio'))).toEqual([
    'evictd_signal_pressure_ratio{eviction_signal="memory.pressure.full.avg10"} 0.5',
    'evictd_signal_pressure_ratio{eviction_signal="io.pressure.some.avg10"} 0.5',
  ]);
});

test('the Prometheus output of a failed check has only the exit code', () => {
  expect(checkPrometheus(failedReport(new Error('x'), clock))).toMatch(
    /^# HELP .*\n# TYPE evictd_check_exit_code gauge\nevictd_check_exit_code 3\n$/,
  );
});

test('a check has the metric families and values of the server', async () => {
  const status = new Status();
  const noCount = (): number => 0;
  const registry = new MetricsRegistry(status, {
    version: 'x',
    dryRun: false,
    journalErrors: noCount,
    journalLostRecords: noCount,
    logLinesDropped: noCount,
    memoryNodes: () => [],
  });
  status.observe(calm, thresholds);
  status.notifiers([live, dead]);
  const server = parseExposition(await registry.metrics());
  const check = parseExposition(checkPrometheus(report(calm, { notifiers: [live, dead] })));
  check.delete('evictd_check_exit_code');
  expect(check.size).toBe(8);
  for (const [name, family] of check) expect<Family | undefined>(server.get(name), name).toEqual(family);
});
