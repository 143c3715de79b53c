import type { Amount } from './status-document.js';
import { jsonInteger } from '../../core/quantity/integer.js';

/** One moment on both clocks. */
export interface Moment {
  /** Monotonic. */
  readonly nowNs: bigint;
  readonly wallMs: number;
}

export function momentNow(): Moment {
  return { nowNs: process.hrtime.bigint(), wallMs: Date.now() };
}

export function secondsOf(ns: bigint): number {
  return Math.round(Number(ns) / 1e6) / 1e3;
}

/** The seconds until a monotonic time; 0: it is over. */
export function secondsUntil(atNs: bigint, { nowNs }: Moment): number {
  return atNs > nowNs ? secondsOf(atNs - nowNs) : 0;
}

/** RFC 3339 of a monotonic time. */
export function wallTimeOf(atNs: bigint, { nowNs, wallMs }: Moment): string {
  return new Date(wallMs - Number(nowNs - atNs) / 1e6).toISOString();
}

export function amountOrNull(amount: bigint | undefined): Amount | null {
  return amount === undefined ? null : jsonInteger(amount);
}
