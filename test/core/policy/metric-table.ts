import { METRIC_LIST, type Gauge, type MetricDefinition } from '../../../src/core/policy/metric.js';
import { RAW_VALUES, type KernelSource, type RawSources } from '../../../src/core/policy/raw-value.js';
import { listItem } from '../../support/markdown-list.js';

/** The longest sum of counters that a cell of the table has. */
const LONGEST_SUM = 40;

/** The table of docs/policy-metrics.md, and below it the long sums. The resources of PSI share their rows. */
export function metricTable(): string {
  const rows = METRIC_LIST.filter(({ name }) => !/^(?:io|cpu)\.pressure/.test(name)).map(rowOf);
  const all = [['metric', 'is', 'cgroup v2', 'cgroup v1', 'node'], ['---', '---', '---', '---', '---'], ...rows];
  const sums = METRIC_LIST.flatMap(({ name, cgroup, node }: MetricDefinition) => [
    ...sumOf(name, cgroup, 'v2'),
    ...sumOf(name, cgroup, 'v1'),
    ...sumOf(name, node, 'node'),
  ]);
  return [...all.map((cells) => `| ${cells.join(' | ')} |`), '', ...sums].join('\n');
}

function sumOf(metric: string, gauge: Gauge | undefined, where: keyof Omit<RawSources, 'counter'>): string[] {
  const [first] = gauge?.needs ?? [];
  const source = first === undefined ? undefined : RAW_VALUES[first][where];
  if (source === undefined || !isLong(source)) return [];
  const place = { v2: 'cgroup v2', v1: 'cgroup v1', node: 'node' }[where];
  const counters = (source.keys ?? []).map((key) => `\`${key}\``).join(', ');
  return [listItem(`\`${metric}\` (${place}): the sum of ${counters} in \`${source.file}\``)];
}

function isLong({ keys = [] }: KernelSource): boolean {
  return keys.join(' + ').length > LONGEST_SUM;
}

function rowOf({ name, kind, unit, cgroup, node }: MetricDefinition): readonly string[] {
  const isPressure = name.startsWith('memory.pressure');
  const shared = (text: string): string => (isPressure ? text.replace('memory', 'RESOURCE').replace('/memory', '/RESOURCE') : text);
  const cells = [placesOf(cgroup, 'v2'), placesOf(cgroup, 'v1'), placesOf(node, 'node')];
  return [`\`${shared(name)}\``, kindText(kind, unit), ...cells.map(shared)];
}

function kindText(kind: MetricDefinition['kind'], unit: MetricDefinition['unit']): string {
  const what = { bytes: 'bytes', count: 'count', seconds: 'seconds', share: 'share of time' }[unit];
  return { level: what, counter: unit === 'bytes' ? 'counter of bytes' : 'counter', growth: 'growth, bytes', stall: `${what} in a window` }[
    kind
  ];
}

function placesOf(gauge: Gauge | undefined, where: keyof Omit<RawSources, 'counter'>): string {
  const [first] = gauge?.needs ?? [];
  if (first === undefined) return '-';
  const source = RAW_VALUES[first][where];
  if (source !== undefined) return sourceText(source);
  if (where === 'node') return `signal \`${first.replace(/\.capacity$/, '')}\``;
  return UNFILED.includes(first) ? 'yes' : '-';
}

/** Not one number of one file: the page says what they are. */
const UNFILED: readonly string[] = ['memory.request', 'age', 'memory.boundNodes.available'];

function sourceText(source: KernelSource): string {
  const { file, keys = [] } = source;
  if (isLong(source)) return `\`${file}\`, a sum`;
  return `\`${[file, keys.join(' + ')].join(' ').trim()}\``;
}
