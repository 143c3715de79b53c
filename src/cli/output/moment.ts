import { zoneText } from '../../core/message/zone-text.js';
import { UsageError } from '../../errors.js';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3, w: 604_800e3 };
const SPAN = /^-?((?:\d+(?:\.\d+)?[smhdw])+)(?: ago)?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/;
const CLOCK = /^(\d\d):(\d\d)(?::(\d\d))?$/;

/**
 * Parses a time to milliseconds since 1970: '2h' and '1d12h' (ago), 'now', 'today', 'yesterday', '08:30' (today),
 * '2026-11-21', '2026-11-21 08:30', '2026-11-21T08:30:00Z', '…+01:00'. The default zone is local. A day in '1d' has 24
 * hours; 'today' is midnight.
 *
 * @param option  for the error
 * @throws UsageError  for another text, or a day that does not exist
 */
export function momentOf(text: string, option: string, nowMs: number): number {
  const found = spanMs(text, nowMs) ?? namedMs(text, nowMs) ?? clockMs(text, nowMs) ?? dateMs(text);
  if (found !== undefined && !Number.isNaN(found)) return found;
  throw new UsageError('EVICTD_HISTORY_TIME', `${option} '${text}' is not a time`, {
    hint: "use 2h, 1d12h, now, today, yesterday, 08:30, 2026-11-21, '2026-11-21 08:30' or 2026-11-21T08:30:00Z; the default zone is local",
  });
}

function spanMs(text: string, nowMs: number): number | undefined {
  const [, terms] = SPAN.exec(text) ?? [];
  if (terms === undefined) return undefined;
  const ms = [...terms.matchAll(/([\d.]+)([smhdw])/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNIT_MS[unit] ?? 0),
    0,
  );
  return nowMs - ms;
}

function namedMs(text: string, nowMs: number): number | undefined {
  switch (text) {
    case 'now':
      return nowMs;
    case 'today':
      return midnightMs(nowMs, 0);
    case 'yesterday':
      return midnightMs(nowMs, -1);
    default:
      return undefined;
  }
}

/** Local midnight, `days` calendar days later: a day may have 23 or 25 hours. */
function midnightMs(nowMs: number, days: number): number {
  const day = new Date(nowMs);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime();
}

function clockMs(text: string, nowMs: number): number | undefined {
  const [, hours, minutes, seconds = '0'] = CLOCK.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const day = new Date(nowMs);
  day.setHours(Number(hours), Number(minutes), Number(seconds), 0);
  return day.getTime();
}

/** Date.parse() takes 2026-02-30 for a day in March, so the day is compared. */
function dateMs(text: string): number | undefined {
  const [, date, clock = '00:00', zone = ''] = DATE.exec(text) ?? [];
  if (date === undefined) return undefined;
  const there = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(there.getTime()) || there.toISOString().slice(0, 10) !== date) return undefined;
  return Date.parse(`${date}T${clock}${/^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone}`);
}

/** '2026-11-21 09:27:58.769+01:00', or in UTC '2026-11-21 08:27:58.769Z'. */
export function momentText(ms: number, utc: boolean): string {
  if (utc) return new Date(ms).toISOString().replace('T', ' ');
  const offset = -new Date(ms).getTimezoneOffset();
  return new Date(ms + offset * 60e3).toISOString().replace('T', ' ').replace('Z', zoneText(offset));
}
