import type { Unseen } from '../../host/facts.js';

/**
 * The verdict of one check. `degraded`: evictd works, but worse than it could; `broken`: it does not work, or not as
 * configured.
 */
export type CheckStatus = 'ok' | 'degraded' | 'broken';

/** A JSON value. */
export type Detail = string | number | boolean | null | readonly Detail[] | { readonly [key: string]: Detail };

export interface Check {
  /** 'kernel.version', 'notifier.memory.available', 'workloads[0]'. Its first word is its group. */
  readonly id: string;
  readonly status: CheckStatus;
  /** One line. */
  readonly summary: string;
  /** What to do; undefined: the check is ok. */
  readonly fix: string | undefined;
  readonly details: Readonly<Record<string, Detail>>;
}

type Details = Check['details'];

export function ok(id: string, summary: string, details: Details = {}): Check {
  return { id, status: 'ok', summary, fix: undefined, details };
}

export function degraded(id: string, summary: string, fix: string, details: Details = {}): Check {
  return { id, status: 'degraded', summary, fix, details };
}

export function broken(id: string, summary: string, fix: string, details: Details = {}): Check {
  return { id, status: 'broken', summary, fix, details };
}

/** A fact that could not be read. */
export function unseen(id: string, what: string, { unseen: reason }: Unseen): Check {
  return degraded(id, `unknown ${what}: ${reason}`, 'run evictd doctor as root', { unseen: reason });
}

/** The worst status; ok without checks. */
export function worstOf(checks: readonly Pick<Check, 'status'>[]): CheckStatus {
  if (checks.some(({ status }) => status === 'broken')) return 'broken';
  return checks.some(({ status }) => status === 'degraded') ? 'degraded' : 'ok';
}
