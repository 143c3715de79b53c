import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EventCounter, EventHistogram, Metric, OwnValues, ReadMetric, Sample } from './metric-types.js';
import { METRICS } from './metric-list.js';
import type { Status } from './status.js';
import { printable } from '../core/name/printable.js';

/**
 * Exports the metrics with prom-client. A scrape computes all values; histograms alone are fed by events. prom-client's
 * default metrics are left out: their collectors cost more than the rest of an idle evictd.
 */
export class MetricsRegistry {
  readonly #registry = new Registry();

  constructor(status: Status, own: OwnValues, metrics: readonly Metric[] = METRICS) {
    for (const metric of metrics) {
      if (metric.type === 'histogram') this.#histogram(metric, status);
      else if ('read' in metric) this.#collected(metric, () => metric.read(status, own));
      else this.#collected(metric, () => status.samplesOf(metric));
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The text exposition of now. */
  metrics(): Promise<string> {
    return this.#registry.metrics();
  }

  #histogram({ name, help, buckets, on }: EventHistogram, status: Status): void {
    const histogram = new Histogram({ name, help, buckets: [...buckets], registers: [this.#registry] });
    status.listen(on, (value) => {
      histogram.observe(value);
    });
  }

  /** Fills the metric at every scrape; a sample without a value is left out. */
  #collected({ type, name, help, labels }: ReadMetric | EventCounter, samples: () => readonly Sample[]): void {
    const fill = (metric: Counter | Gauge): void => {
      metric.reset();
      if (labels.length === 0) metric.remove(); // reset() leaves a sample of 0
      for (const [value, ...texts] of samples()) {
        if (value === undefined) continue;
        const named = Object.fromEntries(labels.map((label, index) => [label, printable(texts[index] ?? '')]));
        if (metric instanceof Gauge) metric.set(named, value);
        else metric.inc(named, value);
      }
    };
    const options = {
      name,
      help,
      labelNames: labels,
      registers: [this.#registry],
      collect(this: Counter | Gauge): void {
        fill(this);
      },
    };
    if (type === 'counter') new Counter(options);
    else new Gauge(options);
  }
}
