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
  /** The commands that `doctor --fix` prints: the parts of the fix that a shell can run. */
  readonly commands: readonly string[];
  readonly details: Readonly<Record<string, Detail>>;
}

type Details = Check['details'];

export function ok(id: string, summary: string, details: Details = {}): Check {
  return { id, status: 'ok', summary, fix: undefined, commands: [], details };
}

/** Commands stand between these in a fix. No name of a file, cgroup or unit has this character. */
const MARK = '\0';

/** A part of a fix that a shell can run as it is: names in it must be plain. */
export function command(text: string): string {
  return `${MARK}${text}${MARK}`;
}

/** Whether a shell takes a name literally. */
export function isPlain(name: string): boolean {
  return /^[A-Za-z0-9_@.:/-]+$/.test(name);
}

export function fixText(fix: string): string {
  return fix.replaceAll(MARK, '');
}

function failed(status: CheckStatus, id: string, summary: string, fix: string, details: Details): Check {
  return { id, status, summary, fix: fixText(fix), commands: fix.split(MARK).filter((_part, index) => index % 2 === 1), details };
}

export function degraded(id: string, summary: string, fix: string, details: Details = {}): Check {
  return failed('degraded', id, summary, fix, details);
}

export function broken(id: string, summary: string, fix: string, details: Details = {}): Check {
  return failed('broken', id, summary, fix, details);
}

/** A fact that could not be read. */
export function unseen(id: string, what: string, { unseen: reason }: Unseen, fix = 'run evictd doctor as root'): Check {
  return degraded(id, `unknown ${what}: ${reason}`, fix, { unseen: reason });
}

/** Files of the kernel that could not be read, though every user may: something hides them. */
export function hidden(id: string, what: string, paths: readonly string[]): Check {
  return unseen(id, what, { unseen: `cannot read ${paths.join(' and ')}` }, 'mount all of /proc: a sandbox hides a part of it');
}

/** The worst status; ok without checks. */
export function worstOf(checks: readonly Pick<Check, 'status'>[]): CheckStatus {
  if (checks.some(({ status }) => status === 'broken')) return 'broken';
  return checks.some(({ status }) => status === 'degraded') ? 'degraded' : 'ok';
}
