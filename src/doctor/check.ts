import type { Unseen } from './facts/unseen.js';

/** How well evictd can do its job, as far as one check sees. `degraded`: worse than it could be; `broken`: not at all, or not what it was told to. */
export type CheckStatus = 'ok' | 'degraded' | 'broken';

/** What was seen, for machines: JSON as it is. */
export type Detail = string | number | boolean | null | readonly Detail[] | { readonly [key: string]: Detail };

export interface Check {
  /** A promise (docs/doctor.md): 'kernel.version', 'notifier.memory.available', 'workloads[0]'. Its first word is its group. */
  readonly id: string;
  readonly status: CheckStatus;
  /** What was seen, in one line. */
  readonly summary: string;
  /** What to do about it; of what is ok there is nothing to do. */
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

/** What could not be seen: nothing is known to be wrong, and nothing known to be right. */
export function unseen(id: string, what: string, { unseen: reason }: Unseen): Check {
  return degraded(id, `${what} cannot be told: ${reason}`, 'run evictd doctor as root', { unseen: reason });
}

/** The worst of them; of none: ok. */
export function worstOf(checks: readonly Pick<Check, 'status'>[]): CheckStatus {
  if (checks.some(({ status }) => status === 'broken')) return 'broken';
  return checks.some(({ status }) => status === 'degraded') ? 'degraded' : 'ok';
}
