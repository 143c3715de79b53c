import { printable } from '../core/name/printable.js';
import type { Definition, Sample } from './metric-types.js';

/** `text`: Prometheus' format 0.0.4. `openmetrics`: OpenMetrics 1.0.0, which has exemplars. */
export type Format = 'text' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** An eviction that a value counts. `evictd history` finds it by the number of its decision. */
export interface Exemplar {
  readonly decision: number;
  readonly value: number;
  readonly atSeconds: number;
}

/** One line of a family. `suffix`: what follows the name of the family, as '_bucket'. */
export interface Line {
  readonly suffix?: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
  readonly exemplar?: Exemplar | undefined;
}

const LABEL_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

/** A metric in one of the formats. */
export function family({ name, type, help }: Omit<Definition, 'labels'>, lines: readonly Line[], format: Format): string {
  const named = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  // A client refuses everything if a series comes twice. Names that differ may look alike.
  const series = new Map(lines.map((line) => [`${name}${line.suffix ?? ''}${labelsText(line.labels)}`, line]));
  const texts = [...series].map(([key, { value, exemplar }]) => {
    const shown = format === 'openmetrics' && exemplar ? exemplarText(exemplar) : '';
    return `${key} ${String(value)}${shown}\n`;
  });
  return `# HELP ${named} ${help}\n# TYPE ${named} ${type}\n${texts.join('')}`;
}

/** The lines of samples. A sample without a value is left out. */
export function linesOf(labels: readonly string[], samples: readonly Sample[]): Line[] {
  return samples.flatMap(([value, ...texts]) =>
    value === undefined ? [] : [{ labels: labels.map((name, at) => [name, texts[at] ?? '']), value }],
  );
}

/** A float as label `le`, with a point in every format: clients compare it as text. */
export function bucketText(limit: number): string {
  return Number.isInteger(limit) ? limit.toFixed(1) : String(limit);
}

function labelsText(labels: Line['labels']): string {
  if (labels.length === 0) return '';
  const pairs = labels.map(([name, value]) => `${name}="${printable(value).replace(/[\\"\n]/g, (text) => LABEL_ESCAPES[text] ?? text)}"`);
  return `{${pairs.join(',')}}`;
}

function exemplarText({ decision, value, atSeconds }: Exemplar): string {
  return ` # {decision="${String(decision)}"} ${String(value)} ${atSeconds.toFixed(3)}`;
}

/** The format that a client prefers, by its header Accept. */
export function acceptedFormat(accept: string | undefined): Format {
  const openmetrics = quality(accept, 'application/openmetrics-text', '1.0.0');
  return openmetrics > 0 && openmetrics >= quality(accept, 'text/plain', '0.0.4') ? 'openmetrics' : 'text';
}

/**
 * How much a client wants a type or an encoding, 0 to 1 (RFC 9110, 12.4.2), by a header such as `text/plain;q=0.5, gzip`.
 *
 * @param version  a parameter `version` of the client has to be this one. Left out: none is looked at
 */
export function quality(header: string | undefined, wanted: string, version?: string): number {
  const ranges = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()));
  const qualities = ranges.flatMap(([name, ...parameters]) => {
    const given = Object.fromEntries(parameters.map((parameter) => parameter.split('=', 2))) as Readonly<
      Record<string, string | undefined>
    >;
    const isWanted = name === wanted && (version === undefined || (given.version ?? version) === version);
    return isWanted ? [given.q === undefined ? 1 : Number(given.q) || 0] : [];
  });
  return Math.max(0, ...qualities);
}
