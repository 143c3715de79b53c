import { expect, test } from 'vitest';
import { quality } from '../../src/metrics/accepted-format.js';
import { gauge } from '../../src/metrics/metric-types.js';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import { Status } from '../../src/metrics/status.js';

const none = (): number => 0;
const OWN = { version: '1', dryRun: false, journalErrors: none, journalLostRecords: none, logLinesDropped: none, memoryNodes: () => [] };

test('in OpenMetrics a counter has its suffix in the samples only, and its last decision as an exemplar', async () => {
  const status = new Status(() => 0n);
  const registry = new MetricsRegistry(status, OWN);
  const before = Date.now() / 1_000;
  for (const decision of [7, 8]) status.evicted('memory.available', { decision, workload: '/batch' });
  status.oomKilled('node', 1);
  status.wakeToSignal(0.004, 8);
  status.wakeToSignal(7, 9);
  const text = await registry.metrics('openmetrics');
  expect(text).toContain('# TYPE evictd_evictions counter\n');
  const [, decision, value, at] =
    /^evictd_evictions_total\{eviction_signal="memory.available"\} 2 # \{decision="(\d+)"\} (\d) ([\d.]+)$/m.exec(text) ?? [];
  expect([decision, value]).toEqual(['8', '1']);
  expect(Number(at)).toBeGreaterThan(before - 1);
  expect(text).toMatch(/^evictd_oom_kills_total\{limit="node"\} 1$/m); // no decision of evictd
  expect(text).toMatch(/^evictd_wake_to_signal_seconds_bucket\{le="0.005"\} 1 # \{decision="8"\} 0.004 /m);
  expect(text).toMatch(/^evictd_wake_to_signal_seconds_bucket\{le="0.01"\} 1$/m); // its own bucket is the one above
  expect(text).toMatch(/^evictd_wake_to_signal_seconds_bucket\{le="10"\} 2 # \{decision="9"\} 7 /m);
  expect(text).toMatch(/\n# EOF\n$/);
  expect(text).not.toMatch(/\n\n/);
  const plain = await registry.metrics();
  expect(plain).not.toMatch(/ # |EOF/);
  expect(plain).toContain('# TYPE evictd_evictions_total counter\n');
});

test('a label value is escaped, whatever bytes a name has, and the last of equal-looking names counts', async () => {
  const samples = [
    [1, 'a\\b"c\nd'],
    [2, 'leak\udcff'],
    [3, 'leak\\xff'],
    [undefined, 'no value'],
  ] as const;
  const registry = new MetricsRegistry(new Status(), OWN, [gauge('x_bytes', 'An x.', () => samples, ['workload'])]);
  for (const format of ['text', 'openmetrics'] as const) {
    const lines = (await registry.metrics(format)).match(/^x_bytes.*$/gm);
    expect(lines).toEqual(['x_bytes{workload="a\\\\b\\"c\\\\x0ad"} 1', 'x_bytes{workload="leak\\\\xff"} 3']);
  }
});

test('help texts have no character that a format escapes', async () => {
  const help = (await new MetricsRegistry(new Status(), OWN).metrics()).match(/^# HELP .*$/gm) ?? [];
  expect(help.length).toBeGreaterThan(40);
  for (const line of help) expect(line).not.toMatch(/["\\]/);
});

test.each([
  ['gzip', 1],
  ['gzip;q=0.25, br', 0.25],
  ['br;q=1.0, GZIP ; q=0', 0],
  ['x-gzip', 0],
  ['gzip;q=nonsense', 0],
  [undefined, 0],
])('the weight of gzip in Accept-Encoding %j', (header, wanted) => {
  expect(quality(header, 'gzip')).toBe(wanted);
});
