import { ratio, timeSpanNs } from '../../../core/systemd/oomd-settings.js';
import { HOUR_SECONDS, type Values } from '../values.js';
import type { Assignment } from './unit-file.js';

/** Percent of `60%`, `600‰` or `6000‱`. */
export function percentOf({ key, value: text, position }: Assignment, values: Values): number {
  const share = ratio(text);
  if (share !== undefined) return Math.round(share * 10_000) / 100;
  return values.refuse({ text, position }, 'a fraction from 0% to 100%', `${key}=`, 0);
}

/** Seconds of a time span, at most an hour: `30`, `1min 30s`. */
export function secondsOf({ key, value: text, position }: Assignment, values: Values): number {
  const seconds = Number(timeSpanNs(text) ?? NaN) / 1e9;
  if (seconds <= HOUR_SECONDS) return seconds;
  return values.refuse({ text, position }, 'a time span of at most an hour (30s, 1min 30s)', `${key}=`, 0);
}
