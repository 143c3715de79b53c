import { protectionText } from '../core/rank.js';
import { systemProtection } from '../core/windows-protection.js';
import type { Protection } from '../core/workload.js';
import type { SignalResult } from '../monitor/ports.js';
import { isShortageOfWindows } from '../native/system-error.js';
import type { ProcessEntry } from '../native/windows-binding.js';

/** Who is never ended, whatever it lives in, beside those that the system needs. */
export interface Spared {
  /** evictd's. */
  readonly pid: number;
  /** By the rules in force. */
  readonly isCritical: (program: Pick<ProcessEntry, 'name' | 'path'>) => boolean;
}

/** Why nobody is ended, for people; `passing` as in SignalResult. */
export type Objection = Required<Pick<SignalResult, 'error' | 'passing'>> & { readonly error: string };

/**
 * What is against ending these processes, as they were found at the last moment; undefined: nothing is.
 *
 * @param own  evictd and the processes that it descends from
 */
export function lastObjection(
  members: readonly ProcessEntry[],
  own: ReadonlySet<number>,
  { isCritical }: Pick<Spared, 'isCritical'>,
): Objection | undefined {
  const critical = members.find(isCritical);
  const byRule: Protection | undefined = critical && { kind: 'contains', name: critical.name };
  const bySystem = systemProtection(members, own);
  // What the system does not tell because it is short of something it may tell the next time.
  const passes = bySystem?.kind === 'unlisted' && members.every(({ errno }) => errno === 0 || isShortageOfWindows(errno));
  const protection = passes ? (byRule ?? bySystem) : (bySystem ?? byRule);
  if (protection === undefined) return undefined;
  return { error: protectionText(protection), passing: passes && byRule === undefined ? 'unsent' : undefined };
}
