const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** The API's value for a time that was never set. */
const ZERO_TIME_MS = Date.parse('0001-01-01T00:00:00Z');

/** `zero`: never set. */
type ApiTime = { readonly kind: 'zero' } | { readonly kind: 'time'; readonly ns: bigint };

/** Parses RFC 3339 as metav1.Time does; undefined: invalid. Cuts off parts of a nanosecond. */
export function parseTime(text: string): ApiTime | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign = '+', offsetHour = '00', offsetMinute = '00'] = match;
  const local = `${year ?? ''}-${month ?? ''}-${day ?? ''}T${hour ?? ''}:${minute ?? ''}:${second ?? ''}`;
  const localMs = Date.parse(`${local}Z`);
  // Date.parse turns 30 February into 2 March.
  if (Number.isNaN(localMs) || !new Date(localMs).toISOString().startsWith(local)) return undefined;
  if (Number(offsetHour) > 24 || Number(offsetMinute) > 60) return undefined;
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  const ms = sign === '-' ? localMs + offsetMs : localMs - offsetMs;
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  if (ms === ZERO_TIME_MS && nanos === 0n) return { kind: 'zero' };
  return { kind: 'time', ns: BigInt(ms) * 1_000_000n + nanos };
}
