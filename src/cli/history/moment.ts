import { UsageError } from '../../errors.js';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3, w: 604_800e3 };
const SPAN = /^-?((?:\d+(?:\.\d+)?[smhdw])+)(?: ago)?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/;
const CLOCK = /^(\d\d):(\d\d)(?::(\d\d))?$/;

/**
 * A moment as people write it, in milliseconds since 1970: '2h' and '1d12h' (so long ago), 'now', 'today', 'yesterday', '08:30' (today), '2026-11-21', '2026-11-21
 * 08:30', '2026-11-21T08:30:00Z', '…+01:00'. Without a zone it is local time ($TZ, /etc/localtime). Days of a span have 24 hours; a day's name stands for its first moment.
 *
 * @param option  what it was written for, for the error
 * @throws UsageError  where it is none of these, or there is no such day
 */
export function momentOf(text: string, option: string, nowMs: number): number {
  const found = spanMs(text, nowMs) ?? namedMs(text, nowMs) ?? clockMs(text, nowMs) ?? dateMs(text);
  if (found !== undefined && !Number.isNaN(found)) return found;
  throw new UsageError('EVICTD_HISTORY_TIME', `${option} '${text}' is no time`, {
    hint: "write 2h, 1d12h, now, today, yesterday, 08:30, 2026-11-21, '2026-11-21 08:30' or 2026-11-21T08:30:00Z; without a zone it is local time",
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

/** A day may have 23 or 25 hours: counted in days of the calendar, not in hours. */
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

/** The language reads 2026-02-30 as a day of March: a day that there is not is no time. */
function dateMs(text: string): number | undefined {
  const [, date, clock = '00:00', zone = ''] = DATE.exec(text) ?? [];
  if (date === undefined) return undefined;
  const there = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(there.getTime()) || there.toISOString().slice(0, 10) !== date) return undefined;
  return Date.parse(`${date}T${clock}${/^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone}`);
}

/** '2026-11-21 09:27:58.769+01:00', or of `utc` '2026-11-21 08:27:58.769Z'. */
export function momentText(ms: number, utc: boolean): string {
  if (utc) return new Date(ms).toISOString().replace('T', ' ');
  const offset = -new Date(ms).getTimezoneOffset();
  const two = (value: number): string => String(value).padStart(2, '0');
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return new Date(ms + offset * 60e3).toISOString().replace('T', ' ').replace('Z', zone);
}
