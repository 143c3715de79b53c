import { protectionText } from '../core/rank.js';
import { systemProtection } from '../core/windows-protection.js';
import type { SignalResult } from '../monitor/ports.js';
import { isShortageOfWindows } from '../native/system-error.js';
import type { ProcessEntry } from '../native/windows-binding.js';

/** Why nobody is ended, for people; `passing` as in SignalResult. */
export type Objection = Required<Pick<SignalResult, 'error' | 'passing'>> & { readonly error: string };

/**
 * What is against ending these processes, as they were found at the last moment; undefined: nothing is.
 *
 * @param own  evictd and the processes that it descends from
 */
export function lastObjection(members: readonly ProcessEntry[], own: ReadonlySet<number>): Objection | undefined {
  const protection = systemProtection(members, own);
  if (protection === undefined) return undefined;
  // What the system does not tell because it is short of something it may tell the next time.
  const passes = protection.kind === 'unlisted' && members.every(({ errno }) => errno === 0 || isShortageOfWindows(errno));
  return { error: protectionText(protection), passing: passes ? 'unsent' : undefined };
}
