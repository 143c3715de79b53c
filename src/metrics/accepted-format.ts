/** `text`: Prometheus' format 0.0.4. `openmetrics`: OpenMetrics 1.0.0, which has exemplars. */
export type Format = 'text' | 'openmetrics';

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
