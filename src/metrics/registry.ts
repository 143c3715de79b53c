import { exemplarOf, type Status } from './status.js';
import { family, linesOf, type Format, type Line } from './exposition.js';
import { Histogram } from './histogram.js';
import type { Metric, OwnValues } from './metric-types.js';
import { METRICS } from './metric-list.js';

/** Exports the metrics. A scrape computes all values; histograms alone are fed by events. */
export class MetricsRegistry {
  readonly #families: readonly { readonly metric: Metric; readonly lines: () => readonly Line[] }[];

  constructor(status: Status, own: OwnValues, metrics: readonly Metric[] = METRICS) {
    this.#families = metrics.map((metric) => {
      if (metric.type === 'histogram') {
        const histogram = new Histogram(metric.buckets);
        status.listen(metric.on, metric.decision, (value, decision) => {
          histogram.observe(value, exemplarOf(decision, value));
        });
        return { metric, lines: () => histogram.lines() };
      }
      if ('read' in metric) return { metric, lines: () => linesOf(metric.labels, metric.read(status, own)) };
      return { metric, lines: () => status.linesOf(metric) };
    });
  }

  /** The values of now. */
  metrics(format: Format = 'text'): string {
    const families = this.#families.map(({ metric, lines }) => family(metric, lines(), format)).join('');
    return format === 'openmetrics' ? `${families}# EOF\n` : families;
  }
}
