import { protectionText } from '../../core/rank/rank.js';
import { systemProtection } from '../../core/windows/windows-protection.js';
import type { Protection } from '../../core/workload/workload.js';
import type { SignalResult } from '../../monitor/ports/ports.js';
import { isShortageOfWindows } from '../../native/system-error.js';
import type { ProcessEntry } from '../../native/windows-binding.js';

/** Processes that are never ended, besides those that Windows needs. */
export interface ProtectedProcesses {
  /** evictd's pid. */
  readonly pid: number;
  /** According to the rules in force. */
  readonly isCritical: (program: Pick<ProcessEntry, 'name' | 'path'>) => boolean;
}

/** Why nothing was ended, as text; `passing` as in SignalResult. */
export type KillRefusal = Required<Pick<SignalResult, 'error' | 'passing'>> & { readonly error: string };

/**
 * What forbids ending these processes now; undefined: nothing.
 *
 * @param own  evictd and its ancestors
 */
export function killRefusal(
  members: readonly ProcessEntry[],
  own: ReadonlySet<number>,
  { isCritical }: Pick<ProtectedProcesses, 'isCritical'>,
): KillRefusal | undefined {
  const critical = members.find(isCritical);
  const byRule: Protection | undefined = critical && { kind: 'contains', name: critical.name };
  const bySystem = systemProtection(members, own);
  // If Windows is short of a resource, it may report the process next time.
  const passes = bySystem?.kind === 'unlisted' && members.every(({ errno }) => errno === 0 || isShortageOfWindows(errno));
  const protection = passes ? (byRule ?? bySystem) : (bySystem ?? byRule);
  if (protection === undefined) return undefined;
  return { error: protectionText(protection), passing: passes && byRule === undefined ? 'unsent' : undefined };
}
