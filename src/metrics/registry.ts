import { Counter, Gauge, Histogram, Registry, type OpenMetricsContentType } from 'prom-client';
import { printable } from '../core/name/printable.js';
import type { Format } from './accepted-format.js';
import type { EventCounter, EventHistogram, Metric, OwnValues, ReadMetric } from './metric-types.js';
import { METRICS } from './definitions/all-metrics.js';
import type { Status } from './status.js';

type AnyRegistry = Registry | Registry<OpenMetricsContentType>;

/**
 * Exports the metrics with prom-client, in two registries: one for each format, because a registry has one format. A
 * scrape computes what is read; counters of events and histograms are fed by events. prom-client's default metrics are
 * left out: their collectors cost more than the rest of an idle evictd.
 */
export class MetricsRegistry {
  readonly #registries = { text: new Registry(), openmetrics: new Registry<OpenMetricsContentType>() };

  constructor(status: Status, own: OwnValues, metrics: readonly Metric[] = METRICS) {
    this.#registries.openmetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    for (const [format, registry] of Object.entries(this.#registries)) {
      const enableExemplars = format === 'openmetrics';
      for (const metric of metrics) {
        if (metric.type === 'histogram') histogram(metric, status, registry, enableExemplars);
        else if ('read' in metric) read(metric, () => metric.read(status, own), registry);
        else counter(metric, status, registry, enableExemplars);
      }
    }
  }

  contentType(format: Format): string {
    return this.#registries[format].contentType;
  }

  /** The values of now. */
  metrics(format: Format = 'text'): Promise<string> {
    return this.#registries[format].metrics();
  }
}

/** A histogram with the decision of the event as exemplar, which prom-client accepts in OpenMetrics only. */
function histogram(
  { name, help, buckets, on, decision }: EventHistogram,
  status: Status,
  registry: AnyRegistry,
  enableExemplars: boolean,
): void {
  const observed = new Histogram({ name, help, buckets: [...buckets], registers: [registry], enableExemplars });
  status.listen(on, decision, (value, of) => {
    if (enableExemplars) observed.observe({ labels: {}, value, ...exemplarOf(of) });
    else observed.observe(value);
  });
}

function counter(
  { name, help, labels, on, decision, initial }: EventCounter,
  status: Status,
  registry: AnyRegistry,
  enableExemplars: boolean,
): void {
  let atZero: readonly (readonly string[])[] = [];
  const counted = new Counter({
    ...{ name, help, labelNames: labels, registers: [registry], enableExemplars },
    /** The series that no event has raised: those of the configuration now in force. */
    collect(): void {
      for (const values of atZero) if (status.count(name, ...values) === 0) counted.remove(named(labels, values));
      atZero = initial(status);
      for (const values of atZero) raise(values, 0, undefined);
    },
  });
  const raise = (values: readonly string[], value: number, of: number | undefined): void => {
    if (enableExemplars) counted.inc({ labels: named(labels, values), value, ...exemplarOf(of) });
    else counted.inc(named(labels, values), value);
  };
  status.listen(on, decision, ([count, ...values], of) => {
    raise(values, count, of);
  });
}

/** Fills the metric at every scrape; a sample without a value is left out. */
function read({ type, name, help, labels }: ReadMetric, samples: () => ReturnType<ReadMetric['read']>, registry: AnyRegistry): void {
  const fill = (metric: Counter | Gauge): void => {
    metric.reset();
    if (labels.length === 0) metric.remove(); // reset() leaves a sample of 0
    for (const [value, ...values] of samples()) {
      if (value === undefined) continue;
      if (metric instanceof Gauge) metric.set(named(labels, values), value);
      else metric.inc(named(labels, values), value);
    }
  };
  const options = {
    ...{ name, help, labelNames: labels, registers: [registry] },
    collect(this: Counter | Gauge): void {
      fill(this);
    },
  };
  if (type === 'counter') new Counter(options);
  else new Gauge(options);
}

function named(labels: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((label, at) => [label, printable(values[at] ?? '')]));
}

function exemplarOf(decision: number | undefined): { exemplarLabels?: { decision: string } } {
  return decision === undefined ? {} : { exemplarLabels: { decision: String(decision) } };
}
